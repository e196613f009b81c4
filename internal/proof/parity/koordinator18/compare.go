package koordinator

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/internal/proof/replay/loadaware"
)

// Compare plays random cases with both and returns how many differ. Apart from the
// current hour, each case is a function of the seed and its number alone. Compare
// writes differences to out, the first ones with the whole case.
func Compare(seed uint64, cases int, out io.Writer) (mismatches int) {
	const shown = 3
	for i := range cases {
		c := loadaware.Random(rand.New(rand.NewPCG(seed, uint64(i))), time.Now().UTC().Round(0))
		c.ID = i
		diff := play(c)
		if len(diff) == 0 {
			continue
		}
		if mismatches++; mismatches <= shown {
			text, _ := json.Marshal(c)
			fmt.Fprintf(out, "case %d: %s\n%s\n", i, strings.Join(diff, "\n\t"), text)
		}
	}
	return mismatches
}

// play returns the differences in one case.
func play(c *loadaware.Case) []string {
	ours, err := loadaware.Run(c, estimator.Koordinator18)
	if err != nil {
		return []string{"berth: " + err.Error()}
	}
	theirs, err := Rival(c)
	if err != nil {
		return []string{"Koordinator: " + err.Error()}
	}
	return loadaware.Diff(theirs, ours)
}
