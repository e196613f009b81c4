package page

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-sched/berth/framework"
)

// A Page is a page that someone looks at. The zero Page is not ready: use New.
type Page struct {
	state    State
	cluster  *cluster // of the last texts without a fault
	world    *world
	problems []Problem // of the texts
	kept     *kept
	row      int    // the first row of the table that is shown
	find     string // a part of the names of the nodes that are shown

	now     func() time.Time
	longest time.Duration // that steps may take when they are taken again; see longest
}

// New returns a page with the first sample.
func New() *Page {
	p := &Page{now: time.Now}
	p.sample(samples[0].Name)
	return p
}

// A Request is what the user did. Do says what:
//
//	open     takes the state Text, which link has returned; an empty one is a new page
//	edit     takes Texts; a nil one only shows the page again
//	sample   takes the texts of the sample Name
//	preset   takes the preset Name
//	seed     takes the seed Seed
//	place    decides about the next N pods, or about the one that is looked at if N is 0
//	back     takes the last decision or other step back
//	restart  takes all steps back but the weights
//	weigh    takes Weights for the profile Name; none are the profile's own
//	again    restarts, and places as many pods as were placed, with the present weights
//	add, drain, evict  what-if steps on the node or pod Name
//	pod      looks at the waiting pod Name
//	node     looks at the node Name, "" for none
//	warm     keeps the scores that the next change of a weight needs
//	rows     shows the table from row N, of nodes with Text in their names
//	link     returns the state as a text, for the script to pack into a link
//	test     returns the state as a Go test
type Request struct {
	Do      string           `json:"do"`
	Text    string           `json:"text"`
	Texts   *Texts           `json:"texts"`
	Name    string           `json:"name"`
	N       int              `json:"n"`
	Seed    uint64           `json:"seed"`
	Weights map[string]int64 `json:"weights"`
}

// A Reply is the answer to a Request.
type Reply struct {
	View *View `json:"view,omitempty"`
	// Texts is set if the text areas have to show other texts.
	Texts *Texts `json:"texts,omitempty"`
	// Text is a state or a Go test.
	Text string `json:"text,omitempty"`
	// Problems are about this request alone; those of the texts are in the View.
	Problems []Problem `json:"problems,omitempty"`
}

// Call answers a request in JSON. It never fails: what is wrong is a problem in the reply,
// and then the page is as it was.
func (p *Page) Call(request []byte) []byte {
	r := new(Request)
	var reply *Reply
	if err := json.Unmarshal(request, r); err != nil {
		reply = &Reply{Problems: []Problem{{Area: "page", Text: "the request is no JSON: " + err.Error()}}}
	} else {
		reply = p.Do(r)
	}
	out, err := json.Marshal(reply)
	if err != nil {
		out, _ = json.Marshal(&Reply{Problems: []Problem{{Area: "page", Text: err.Error()}}})
	}
	return out
}

// Do is Call without JSON.
func (p *Page) Do(r *Request) (reply *Reply) {
	p.longest = longest
	if p.world != nil {
		p.world.until = p.now().Add(longest)
	}
	before := p.state
	before.Steps = slices.Clone(before.Steps)
	reply = new(Reply)
	defer func() {
		if v := recover(); v != nil { // a fault of the library must not end the page
			p.state, p.world, p.kept = before, nil, nil
			reply = &Reply{Problems: []Problem{{Area: "page", Text: fmt.Sprintf("a fault of berth, please report it with the link: %v", v)}}}
		}
	}()
	if err := p.do(r, reply); err != nil {
		reply.Problems = append(reply.Problems, Problem{Area: areaOf(r.Do), Text: err.Error()})
		p.state, p.world, p.kept = before, nil, nil
	}
	if r.Do != "link" && r.Do != "test" && r.Do != "warm" {
		reply.View = p.view(reply)
	}
	return reply
}

// areaOf is the area where a problem with a request is shown.
func areaOf(do string) string {
	switch do {
	case "open", "link":
		return "link"
	case "weigh":
		return "weights"
	}
	return "page"
}

func (p *Page) do(r *Request, reply *Reply) (err error) {
	switch r.Do {
	case "open":
		return p.open(r.Text, reply)
	case "edit":
		if r.Texts != nil {
			p.edit(*r.Texts, reply)
		}
		return nil
	case "sample":
		if _, ok := sampleTexts(r.Name); !ok {
			return fmt.Errorf("there is no sample %q", r.Name)
		}
		p.sample(r.Name)
		reply.Texts = &p.state.Texts
		return nil
	case "preset", "seed":
		return p.choose(r, reply)
	case "rows":
		p.row, p.find = max(0, r.N), r.Text
		return nil
	case "link":
		reply.Text, err = p.state.text()
		return err
	case "node":
		p.state.Node = r.Name
		return nil
	}
	w, err := p.ready()
	if err != nil {
		return err
	}
	switch r.Do {
	case "warm":
		w.keepClasses()
		return nil
	case "pod":
		if w.waiting(r.Name) < 0 {
			return fmt.Errorf("pod %s does not wait", r.Name)
		}
		p.state.Pod = r.Name
		return nil
	case "test":
		reply.Text = p.goTest(w)
		return nil
	}
	return p.step(w, r)
}

// step takes a step, or takes steps back.
func (p *Page) step(w *world, r *Request) error {
	if len(p.problems) > 0 {
		return fmt.Errorf("correct the texts first: the answers are of the last texts without a fault")
	}
	switch r.Do {
	case "place":
		s := Step{Do: stepPlace, N: r.N}
		if r.N < 1 {
			pod := p.subject(w)
			if pod == nil {
				return fmt.Errorf("no pod waits")
			}
			s.N = 1
			if pod != w.queue[0] {
				s.N, s.Name = 0, pod.Pod.Key()
			}
		}
		s.N = min(s.N, len(w.queue))
		return p.take(w, s)
	case "weigh":
		name := r.Name
		if name == "" {
			name = w.cluster.profiles[0].Name
		}
		return p.take(w, Step{Do: stepWeigh, Name: name, Weights: r.Weights})
	case stepAdd, stepDrain, stepEvict:
		return p.take(w, Step{Do: r.Do, Name: r.Name})
	case "back":
		p.back()
	case "restart":
		p.restart()
	case "again":
		n := 0
		for _, a := range w.acts {
			if a.do == stepPlace {
				n++
			}
		}
		p.restart()
		if n > 0 {
			p.state.Steps = append(p.state.Steps, Step{Do: stepPlace, N: n})
		}
	default:
		return fmt.Errorf("there is no request %q", r.Do)
	}
	p.world, p.kept = nil, nil
	_, err := p.ready()
	return err
}

// take takes a step and remembers it. A step that continues the last one is joined to it.
func (p *Page) take(w *world, s Step) error {
	if len(p.state.Steps) >= maxSteps {
		return fmt.Errorf("there are %d steps, and a link holds no more; start again", maxSteps)
	}
	if err := w.apply(s); err != nil {
		return err
	}
	if n := len(p.state.Steps); n > 0 {
		switch last := &p.state.Steps[n-1]; {
		case s.Do == stepPlace && last.Do == stepPlace && s.Name == "" && last.Name == "":
			last.N += s.N
			return nil
		case s.Do == stepWeigh && last.Do == stepWeigh && s.Name == last.Name:
			last.Weights = s.Weights
			return nil
		}
	}
	p.state.Steps = append(p.state.Steps, s)
	return nil
}

// back takes back the last decision, or the last other step.
func (p *Page) back() {
	n := len(p.state.Steps)
	if n == 0 {
		return
	}
	if last := &p.state.Steps[n-1]; last.Do == stepPlace && last.N > 1 {
		last.N--
		return
	}
	p.state.Steps = p.state.Steps[:n-1]
}

// restart takes back all steps, and leaves the last weights of each profile.
func (p *Page) restart() {
	weights := map[string]Step{}
	for _, s := range p.state.Steps {
		if s.Do == stepWeigh {
			weights[s.Name] = s
		}
	}
	p.state.Steps = nil
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		if len(weights[name].Weights) > 0 {
			p.state.Steps = append(p.state.Steps, weights[name])
		}
	}
}

func (p *Page) open(text string, reply *Reply) error {
	if text == "" {
		p.sample(samples[0].Name)
		reply.Texts = &p.state.Texts
		return nil
	}
	s, err := stateOf(text)
	if err != nil {
		reply.Texts = &p.state.Texts // the page shows what it had
		return err
	}
	if _, ok := presetOf(s.Preset); !ok {
		reply.Problems = append(reply.Problems, Problem{Area: "link", Text: fmt.Sprintf("the link names the preset %q, which this page does not have; this is %s", s.Preset, presets[0].Name)})
		s.Preset = presets[0].Name
	}
	p.state = *s
	p.reset()
	reply.Texts = &p.state.Texts
	p.settle("link", reply)
	return nil
}

// settle takes the steps of the state again, and leaves out those that cannot be taken.
func (p *Page) settle(area string, reply *Reply) {
	if p.world != nil || len(p.problems) > 0 {
		return
	}
	steps := len(p.state.Steps)
	if _, err := p.ready(); err != nil {
		reply.Problems = append(reply.Problems, Problem{Area: area, Text: err.Error() + "; this step and those after it are left out"})
		if len(p.state.Steps) < steps {
			p.settle(area, &Reply{})
		}
	}
}

// edit takes other texts. Steps stay if they can be taken again.
func (p *Page) edit(t Texts, reply *Reply) {
	if t == p.state.Texts {
		return
	}
	p.state.Texts = t
	p.reset()
	p.settle("page", reply)
}

func (p *Page) sample(name string) {
	s, _ := sampleTexts(name)
	p.state = State{Preset: s.Preset, Sample: name, Texts: s.Texts}
	p.reset()
}

// choose takes a preset or a seed. Steps are taken again.
func (p *Page) choose(r *Request, reply *Reply) error {
	if r.Do == "seed" {
		p.state.Seed = r.Seed
		p.reset()
		p.settle("page", reply)
		return nil
	}
	if _, ok := presetOf(r.Name); !ok {
		return fmt.Errorf("there is no preset %q", r.Name)
	}
	text := &p.state.Config
	switch {
	case r.Name == LoadAware && strings.TrimSpace(*text) == "":
		*text = loadAwareConfig
	case r.Name != LoadAware && *text == loadAwareConfig:
		*text = ""
	}
	p.state.Preset = r.Name
	p.state.Steps = slices.DeleteFunc(p.state.Steps, func(s Step) bool { return s.Do == stepWeigh })
	p.reset()
	p.settle("page", reply)
	reply.Texts = &p.state.Texts
	return nil
}

// reset reads the texts. If they are wrong, the page goes on showing the cluster of before.
func (p *Page) reset() {
	c, problems := read(&p.state)
	if p.problems = problems; len(problems) > 0 {
		return
	}
	p.cluster, p.world, p.kept, p.row, p.find = c, nil, nil, 0, ""
}

// ready takes the steps that the state lists, unless they are taken already. If one cannot
// be taken, it and those after it are dropped from the state, and the error says so.
func (p *Page) ready() (*world, error) {
	if p.cluster == nil {
		return nil, fmt.Errorf("there is no cluster yet: correct the texts, or choose a sample")
	}
	if p.world != nil {
		return p.world, nil
	}
	w, err := newWorld(p.cluster)
	if err != nil {
		return nil, err
	}
	w.now, w.until = p.now, p.now().Add(p.longest)
	p.longest *= 2 // what fitted may take a bit longer when it is done again
	for i, s := range p.state.Steps {
		if err := w.apply(s); err != nil {
			p.state.Steps = p.state.Steps[:i]
			return nil, fmt.Errorf("step %d, %s %s: %w", i+1, s.Do, s.Name, err)
		}
	}
	p.world = w
	return w, nil
}

// subject returns the pod that is looked at: the chosen one if it waits, otherwise the next.
func (p *Page) subject(w *world) *framework.PodInfo {
	if i := w.waiting(p.state.Pod); i >= 0 {
		return w.queue[i]
	}
	p.state.Pod = ""
	if len(w.queue) == 0 {
		return nil
	}
	return w.queue[0]
}

// decision returns the kept decision about the subject, nil if no pod waits.
func (p *Page) decision(w *world) *kept {
	pod := p.subject(w)
	if pod == nil {
		return nil
	}
	if p.kept == nil || p.kept.version != w.version || p.kept.pod != pod {
		p.kept = w.keep(pod)
	}
	return p.kept
}
