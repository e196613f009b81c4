package config

import (
	"bytes"
	"fmt"
	"math/rand"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestScratch(t *testing.T) {
	const n = 10 << 20
	rnd := make([]byte, n)
	rand.New(rand.NewSource(1)).Read(rnd)
	ascii := bytes.Clone(rnd)
	for i := range ascii {
		ascii[i] = 32 + ascii[i]%95
	}
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [", i, i)
		for j := 0; j < 10; j++ {
			fmt.Fprintf(&bomb, "*a%d,", i-1)
		}
		bomb.WriteString("]\n")
	}
	long := "a: &a \"" + strings.Repeat("x", 1<<20) + "\"\nb: [" + strings.Repeat("*a,", 1<<20) + "]\n"
	cases := map[string][]byte{
		"random": rnd, "ascii": ascii, "zero": make([]byte, n),
		"a": bytes.Repeat([]byte("a"), n), "a ": bytes.Repeat([]byte("a "), n/2), "newline": bytes.Repeat([]byte("\n"), n),
		"[": bytes.Repeat([]byte("["), n), "{": bytes.Repeat([]byte("{"), n), "[ json": append(bytes.Repeat([]byte("["), n/2), bytes.Repeat([]byte("]"), n/2)...),
		"{a:": bytes.Repeat([]byte("{\"a\":"), n/5), "- ": bytes.Repeat([]byte("- "), n/2), "- a\n": bytes.Repeat([]byte("- a\n"), n/4), "a: b\n": bytes.Repeat([]byte("a: b\n"), n/5),
		"? ": bytes.Repeat([]byte("? "), n/2), "a: ": bytes.Repeat([]byte("a: "), n/3), "---": bytes.Repeat([]byte("---\n"), n/4), "--- a": bytes.Repeat([]byte("--- a\n"), n/6),
		"&a *a": bytes.Repeat([]byte("- &a *a\n"), n/8), "quote": append([]byte("\""), bytes.Repeat([]byte("a"), n)...), "#": bytes.Repeat([]byte("#"), n), "!": bytes.Repeat([]byte("!"), n), "&": bytes.Repeat([]byte("&a "), n/3),
		"bomb": []byte(bomb.String()), "long": []byte(long), "[a,": append([]byte("["), bytes.Repeat([]byte("a,"), n/2)...), "[0,json": append(append([]byte("["), bytes.Repeat([]byte("0,"), n/2)...), '0', ']'),
		"{}": bytes.Repeat([]byte("{} "), n/3), "| ": bytes.Repeat([]byte("a: |\n  b\n"), n/9), "spaces": bytes.Repeat([]byte(" "), n), "tabs": bytes.Repeat([]byte("\t"), n), ",": bytes.Repeat([]byte(","), n), "- - nested": []byte(deepYAML(9000)), "%": bytes.Repeat([]byte("%a\n"), n/3), "'": bytes.Repeat([]byte("'"), n), "a:\\n a": []byte(deepMap(6000)), "<<": []byte("a: &a {b: c}\nd:\n" + strings.Repeat("  <<: *a\n", n/9)), ": ": bytes.Repeat([]byte(": "), n/2), "k=": append([]byte("a:\n"), bytes.Repeat([]byte(" b c\n"), n/5)...), "{a,a": append([]byte("{"), bytes.Repeat([]byte("a, "), n/3)...), "emoji": bytes.Repeat([]byte("😀"), n/4), "colon": bytes.Repeat([]byte("a:"), n/2),
	}
	for name, data := range cases {
		for _, f := range []string{"YAMLToJSON", "Load"} {
			var m0, m1 runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m0)
			start := time.Now()
			var err error
			if f == "Load" {
				_, err = Load(data, Options{MaxBytes: 100 << 20})
			} else {
				_, err = YAMLToJSON(data)
			}
			d := time.Since(start)
			runtime.ReadMemStats(&m1)
			msg := "nil"
			if err != nil {
				msg = err.Error()
			}
			if len(msg) > 90 {
				msg = msg[:90]
			}
			flag := ""
			if d > time.Second || m1.TotalAlloc-m0.TotalAlloc > 1<<30 {
				flag = "   <<<<<<"
			}
			fmt.Printf("%-12q %-10s %8.0f ms %6d MB alloc  sys %d MB %s%s\n", name, f, float64(d.Milliseconds()), (m1.TotalAlloc-m0.TotalAlloc)>>20, m1.Sys>>20, msg, flag)
		}
	}
}

func deepYAML(n int) string { return strings.Repeat("- ", n) + "a" }
func deepMap(n int) string {
	var b strings.Builder
	for i := 0; i < n; i++ {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}
