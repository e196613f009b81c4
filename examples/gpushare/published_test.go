//go:build full

package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/berth-sched/berth/examples/gpushare/openb"
	"github.com/berth-sched/berth/internal/proof/effort"
)

const picture = "allocation.svg"

// TestPicture runs the program on the default trace, which lies beside the checkout or
// where BERTH_OPENB says, as its page documents it. The picture in the README is what it
// writes. The policy that draws is compared in all columns of all tables: at most 5 % of the
// means may be further than two standard errors from the published ones, and none further
// than four.
func TestPicture(t *testing.T) {
	if !effort.Full() || testing.Short() {
		t.Skip("needs all seeds")
	}
	dir := os.Getenv("BERTH_OPENB")
	if dir == "" {
		dir = "../../../shared/data/openb"
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the OpenB trace is not there; name its directory in BERTH_OPENB")
	}
	o := options{workload: filepath.Join(dir, "openb_pod_list_default.csv"), expected: dir, seed: 42, runs: 10}
	trace, err := o.trace()
	if err != nil {
		t.Fatal(err)
	}
	published, err := o.published(trace.Name)
	if err != nil {
		t.Fatal(err)
	}
	results, err := runAll(trace, o.configs(openb.Policies(), openb.FixedOrder), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if got := figure(trace, results, published); !bytes.Equal(got, want) {
		t.Errorf("%s is not what the program writes with -svg: renew it", picture)
	}
	var out strings.Builder
	if err := writeTable(&out, results, published); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "\n19650 of 19650 published figures are equal") {
		t.Errorf("output:\n%s", out.String())
	}
	random := of(results, openb.Random)
	if m := compareMeans(random, compare(random, published).known); m.all != 3*openb.Columns || m.near*100 < m.all*95 || m.farthest > 4 {
		t.Errorf("Random%s", m)
	}
}

// TestPictureOfTheText: the lines of the picture in the README are where the text of package
// devices says: it needs no trace.
func TestPictureOfTheText(t *testing.T) {
	data, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("devices/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := polylines(t, data)
	policies := openb.Policies()
	if len(lines) != len(policies) || bytes.Count(data, []byte("<g fill")) != len(openb.Published()) {
		t.Fatalf("%d lines, want %d, and circles for all but FirstFit", len(lines), len(policies))
	}
	for i, p := range policies {
		if !bytes.Contains(data, []byte(">"+string(p)+" ")) {
			t.Errorf("%s has no label", p)
		}
		if p != openb.FGD && p != openb.FirstFit {
			continue
		}
		points := strings.Fields(lines[i])
		if len(points) != openb.Columns-firstColumn {
			t.Fatalf("%s has %d points", p, len(points))
		}
		_, place, _ := strings.Cut(points[at-firstColumn], ",")
		y, err := strconv.ParseFloat(place, 64)
		if err != nil {
			t.Fatal(err)
		}
		percent := 100 - (y-top)/(height-top-bottom)*(100-lowest)
		if said := fmt.Sprintf("%.1f %%", math.Round(percent*10)/10); !strings.Contains(strings.ReplaceAll(string(text), "\n// ", " "), said) {
			t.Errorf("%s is at %s in the picture, and not in the text", p, said)
		}
	}
}

// polylines returns the points of each line of a figure.
func polylines(t *testing.T, data []byte) (points []string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return points
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != "polyline" {
			continue
		}
		for _, a := range e.Attr {
			if a.Name.Local == "points" {
				points = append(points, a.Value)
			}
		}
	}
}
