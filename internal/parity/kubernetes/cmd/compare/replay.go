package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// replay compares the cases of a file again.
func replay(c config, stdout io.Writer) (differ int, err error) {
	file, err := os.Open(c.replay)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	a := newAsker()
	defer a.forget()
	count := 0
	for in := json.NewDecoder(file); ; count++ {
		i := new(item)
		if err := in.Decode(i); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return differ, fmt.Errorf("%s: case %d: %w", c.replay, count, err)
		}
		if i.Case == nil || i.Pod == nil && i.Steps == nil {
			return differ, fmt.Errorf("%s: case %d: neither a pod nor steps", c.replay, count)
		}
		v := a.ask(i)
		if v.err != nil {
			return differ, fmt.Errorf("%s: %w", i.ID, v.err)
		}
		for _, d := range v.differences {
			fmt.Fprintf(stdout, "%s: %s\n", i.ID, d)
		}
		if len(v.differences) > 0 {
			differ++
		}
	}
	fmt.Fprintf(stdout, "%d cases, %d mismatches\n", count, differ)
	return differ, nil
}
