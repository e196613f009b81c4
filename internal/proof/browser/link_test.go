package browser

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// The bounds of links.
const (
	maxLink  = 1 << 20  // characters
	maxState = 32 << 20 // bytes
)

// linkOf packs a text as links are packed.
func linkOf(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return "1." + base64.RawURLEncoding.EncodeToString(b.Bytes())
}

// state is a state with two steps, and atState what it shows.
const (
	state   = `{"preset":"1.37","sample":"shop","steps":[{"do":"place","n":2}]}`
	atState = "shop/web-2 goes to"
)

// follow goes to a fragment within the page, and waits until an element shows the part anew.
func (b *tab) follow(fragment, id, part string) {
	b.t.Helper()
	b.settle()
	eval[bool](b, fmt.Sprintf(`(document.getElementById(%q).textContent = "", location.hash = %q, true)`, id, fragment))
	b.wait(fmt.Sprintf("document.getElementById(%q).textContent.includes(%q)", id, part))
}

// TestLinks opens links of earlier versions and makes links of its own.
func TestLinks(t *testing.T) {
	b := newTab(t, 1280, 900, false)
	// This link was made before browsers packed links.
	b.open("#1.LMxRqsIwFIThvcxz7gWpIJ4dCO5AfDg0Y1NITOhJEQnZuwR9nI_hbygbjRWCw_90goNpKpEQWMhlbNJDzg5WWQxya_AZghJ1JhyekKm7H764LmGgppHwfOge65_NgX6P3OC-l2qQhkvShdc8a1zrG3Ls_d4_AQAA__8")
	b.has("sentence", "shop/web-3 goes to a-1 with 654 points")
	if got := eval[string](b, `document.getElementById("seed").value + " " + document.getElementById("weight-ImageLocality").value`); got != "9 4" {
		t.Errorf("seed and weight %s, want 9 4", got)
	}
	if got := b.text("messages"); got != "" {
		t.Errorf("an old link: %s", got)
	}

	// Own texts are in the link as they are. Copying takes the link of now, not of a
	// moment before.
	eval[bool](b, `(navigator.clipboard.writeText = async (text) => { globalThis.copied = text }, true)`)
	b.listenToStatus()
	const mine = "# größer & <b> \"x\" 😀\n"
	config := mine + eval[string](b, `document.getElementById("config").value`)
	eval[bool](b, fmt.Sprintf(`(() => {
		const e = document.getElementById("config");
		e.value = %q;
		edit();
		document.getElementById("place").click();
		document.getElementById("copy-link").click();
		return true;
	})()`, config))
	b.wait("globalThis.copied !== undefined")
	b.settle()
	b.tells("The link is copied.")
	own := eval[string](b, "globalThis.copied")
	if want := eval[string](b, "location.href"); own != want {
		t.Errorf("copied %s, the address is %s", own, want)
	}
	want := b.answers()
	b.open(strings.TrimPrefix(own, b.url))
	b.same("the link with own texts", want)
	if got := eval[string](b, `document.getElementById("config").value`); got != config {
		t.Errorf("the link has the text %q, want %q", got, config)
	}

	// The texts of a sample are left out.
	b.set("sample", "large", "change")
	if n := len(eval[string](b, "setLink()")) - len(b.url); n > 1000 || n < 10 {
		t.Errorf("the link of a sample has %d characters, want less than 1000: its texts need not be in it", n)
	}

	// What no browser takes is refused. The link of before must go.
	b.set("sample", "shop", "change")
	b.listenToStatus()
	eval[bool](b, `(() => {
		let x = 1, noise = "# ";
		for (let i = 0; i < 1 << 21; i++) noise += "0123456789abcdefghijklmnopqrstuv"[(x = (Math.imul(x, 1664525) + 1013904223) >>> 0) >>> 27];
		const e = document.getElementById("config");
		e.value = noise;
		edit();
		return true;
	})()`)
	if got := eval[string](b, "setLink()"); got != "" {
		t.Errorf("a link of %d characters is made", len(got))
	}
	b.tells("the texts are too large for a link")
	b.wait(`location.hash === ""`)
	b.quiet()
}

// TestBadLinks opens links that are damaged or hold too much, at first and in a page that
// shows something else. The page must say what is wrong and stay as it is.
func TestBadLinks(t *testing.T) {
	spaces := func(n int) string { return strings.Repeat(" ", n) }
	good := linkOf(t, state)
	tests := []struct{ name, link, want string }{
		{"junk", "junk", "the part after # is no link of this page"},
		{"version", "2." + good[2:], "the part after # is no link of this page"},
		{"characters", "1.***", "a character that links do not have"},
		{"end", good[:len(good)-len(good[2:])%4+1], "or its end is missing"},
		{"not packed", "1.AAAA", "cannot be unpacked"},
		{"half", good[:2+len(good)/8*4], "cannot be unpacked"},
		{"more behind", good + "AAAA", "cannot be unpacked"},
		{"nothing", "1.", "cannot be unpacked"},
		{"nothing packed", linkOf(t, ""), "cannot be unpacked"},
		{"no JSON", linkOf(t, `{"preset":`), "the link is damaged"},
		{"too long", "1." + strings.Repeat("A", maxLink+1), "the link is longer than 1048576 bytes"},
		{"too much", linkOf(t, state+spaces(maxState-len(state)+1)), "the link holds more than 32 MB"},
	}
	first, later := newTab(t, 1280, 900, false), newTab(t, 1280, 900, false)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			first.t, later.t = t, t
			first.open("#" + test.link)
			first.has("messages", test.want)
			first.has("sentence", "shop/web-0 goes to b-2")
			if got := eval[string](first, `document.getElementById("nodes").value`); !strings.Contains(got, "kind: Node") {
				t.Errorf("the page has the nodes %q", got)
			}
			later.follow("#"+good, "sentence", atState)
			want := later.answers()
			later.follow("#"+test.link, "messages", test.want)
			later.same("after the link, the page", want)
		})
	}
	first.t, later.t = t, t
	first.quiet()

	// What just fits is opened, and says nothing of before.
	later.follow("#"+linkOf(t, strings.Replace(state, "2}", spaces(maxState-len(state))+"3}", 1)), "sentence", "shop/web-3 goes to")
	if got := later.text("messages"); got != "" {
		t.Errorf("a link that just fits: %s", got)
	}
	later.quiet()
}

// TestBomb opens a short link that unpacks to as much as it can. The browser must not get
// more of it than it takes to see that.
func TestBomb(t *testing.T) {
	b := newTab(t, 1280, 900, false)
	var z bytes.Buffer
	w, err := flate.NewWriter(&z, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for z.Len() < maxLink*3/4-1<<12 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	eval[bool](b, `(() => {
		globalThis.fed = 0;
		const Native = DecompressionStream;
		globalThis.DecompressionStream = class {
			constructor(format) {
				const unpacker = new Native(format), writer = unpacker.writable.getWriter();
				this.readable = unpacker.readable;
				this.writable = new WritableStream({
					async write(bytes) { await writer.ready; globalThis.fed += bytes.length; await writer.write(bytes); },
					close: () => writer.close(),
					abort: (e) => writer.abort(e),
				});
			}
		};
		return true;
	})()`)
	b.follow("#"+linkOf(t, state), "sentence", atState)
	if fed := eval[int](b, "globalThis.fed"); fed < len(state)/2 || fed > 2*len(state) {
		t.Fatalf("%d bytes of a link of %d are unpacked: are they counted?", fed, len(state))
	}
	b.follow("#1."+base64.RawURLEncoding.EncodeToString(z.Bytes()), "messages", "the link holds more than 32 MB")
	b.has("sentence", atState)
	if fed, most := eval[int](b, "globalThis.fed"), 64<<10; fed > most {
		t.Errorf("%d of %d bytes are unpacked before the page refuses the link, want at most %d", fed, z.Len(), most)
	}
	b.quiet()
}

// TestLinksInTurn follows a link while another is being unpacked. The last one counts.
func TestLinksInTurn(t *testing.T) {
	b := newTab(t, 1280, 900, false)
	slow := linkOf(t, strings.Repeat(" ", maxState/2)+strings.Replace(state, "2}", "5}", 1))
	eval[bool](b, fmt.Sprintf(`(async () => {
		globalThis.asked = [];
		const native = call;
		globalThis.call = (r) => { if (r.do === "open") asked.push(r.text.trim()); return native(r); };
		await Promise.all([open(%q), open(%q)]);
		return true;
	})()`, "#"+slow, "#"+linkOf(t, state)))
	b.has("sentence", atState)
	if got := eval[[]string](b, "asked"); len(got) != 1 || got[0] != state {
		t.Errorf("opened %q, want only the last link", got)
	}
	b.quiet()
}
