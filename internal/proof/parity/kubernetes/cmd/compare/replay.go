package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// longestLine is the length in bytes of the longest case that can be read.
const longestLine = 64 << 20

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
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		if !bytes.HasPrefix(lines.Bytes(), []byte("{")) {
			continue // the last line of a run
		}
		i := new(item)
		if err := json.Unmarshal(lines.Bytes(), i); err != nil {
			return differ, fmt.Errorf("%s: case %d: %w", c.replay, count, err)
		}
		count++
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
	if err := lines.Err(); err != nil {
		return differ, fmt.Errorf("%s: %w", c.replay, err)
	}
	fmt.Fprintf(stdout, "%d cases, %d mismatches\n", count, differ)
	return differ, nil
}
