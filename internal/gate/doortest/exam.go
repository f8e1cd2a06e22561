package doortest

import (
	"encoding/json"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/op"
)

// Door is a candidate: one way to call the house's operations.
type Door struct {
	// Call runs an operation with an input, as who calls; key is the caller's word for "this once".
	Call func(t *testing.T, who op.Caller, name, input, key string) Answer
	// Offers are the operations that the door shows a caller, and whether it says that they change something. nil: it shows none.
	Offers func(t *testing.T, who op.Caller) map[string]bool
	// Masks says that what a caller may not use is not offered either.
	Masks bool
}

// Answer is what came back through the door.
type Answer struct {
	Failed bool
	Kind   fault.Kind      // of a failure
	Out    json.RawMessage // of a success
	Said   string          // every byte of it
}

type exam struct {
	house *House
	door  Door
}

// Run examines a door. open makes it over the exam's house.
func Run(t *testing.T, open func(t *testing.T, h *House) Door) {
	for _, part := range []struct {
		name string
		ask  func(exam, *testing.T)
	}{{"hints", exam.hints}, {"masking", exam.masking}, {"faults", exam.faults}, {"inside", exam.inside}, {"pending", exam.pending},
		{"idempotency", exam.idempotency}, {"stranger", exam.stranger}, {"input", exam.input}, {"answer", exam.answer}} {
		t.Run(part.name, func(t *testing.T) {
			h := NewHouse(t)
			part.ask(exam{h, open(t, h)}, t)
		})
	}
}

// hints: a door that says whether something changes says what the table says.
func (e exam) hints(t *testing.T) {
	if e.door.Offers == nil {
		t.Log("this door shows no list")
		return
	}
	offers := e.door.Offers(t, Builder())
	for _, name := range []string{"thing.look", "thing.write", "thing.pass", "thing.send", "thing.fail"} {
		changes, ok := offers[name]
		if !ok || changes != e.house.Gate.Table().Get(name).Changes() {
			t.Errorf("%s is offered: %v, and is said to change something: %v", name, ok, changes)
		}
	}
}

// masking: what a caller may not do is refused, and nothing of it happens. A door that masks does not show it either.
func (e exam) masking(t *testing.T) {
	for _, name := range []string{"thing.people", "thing.hide"} {
		if e.door.Masks && name == "thing.people" {
			if _, shown := e.door.Offers(t, Builder())[name]; shown {
				t.Errorf("%s is shown to somebody who may not use it", name)
			}
		}
		a := e.door.Call(t, Builder(), name, `{"name":"a"}`, "")
		if !a.Failed || a.Kind != fault.Denied && a.Kind != fault.NotFound {
			t.Errorf("%s answers %v %s", name, a.Kind, a.Said)
		}
	}
	e.idle(t)
}

// faults: kind, sentence, next step and facts arrive as they were said.
func (e exam) faults(t *testing.T) {
	for _, kind := range []fault.Kind{fault.Invalid, fault.Denied, fault.NotFound, fault.Conflict, fault.Exhausted, fault.Unavailable} {
		a := e.door.Call(t, Builder(), "thing.fail", `{"kind":"`+kind.String()+`"}`, "")
		if !a.Failed || a.Kind != kind {
			t.Errorf("%s arrives as %v", kind, a)
		}
		for _, want := range []string{"it is " + kind.String(), "try " + kind.String() + " again", "fact-" + kind.String()} {
			if !strings.Contains(a.Said, want) {
				t.Errorf("%s does not say %q: %s", kind, want, a.Said)
			}
		}
	}
}

// inside: an error that is no fault, and a panic, say that they happened and nothing else.
func (e exam) inside(t *testing.T) {
	for _, kind := range []string{"internal", "panic"} {
		a := e.door.Call(t, Builder(), "thing.fail", `{"kind":"`+kind+`"}`, "")
		if !a.Failed || a.Kind != fault.Internal || strings.Contains(a.Said, Inside) || !strings.Contains(a.Said, "internal error") {
			t.Errorf("%s: %+v", kind, a)
		}
	}
	if a := e.door.Call(t, Builder(), "thing.look", `{"name":"a"}`, ""); a.Failed {
		t.Errorf("after a panic the door is closed: %s", a.Said)
	}
}

// pending: what a person has to look at says so, names the ask, and did not happen.
func (e exam) pending(t *testing.T) {
	a := e.door.Call(t, Builder(), "thing.send", `{"name":"a"}`, "")
	if !a.Failed || a.Kind != fault.Pending || !strings.Contains(a.Said, "ask_") {
		t.Errorf("%+v", a)
	}
	e.idle(t)
}

// idempotency: what is sent twice under one key happens once, and the key belongs to that one call.
func (e exam) idempotency(t *testing.T) {
	first := e.door.Call(t, Builder(), "thing.write", `{"name":"a"}`, "key-1")
	again := e.door.Call(t, Builder(), "thing.write", `{"name":"a"}`, "key-1")
	if first.Failed || again.Failed || string(first.Out) != string(again.Out) || e.house.acted.Load() != 1 {
		t.Errorf("%s, then %s, and it happened %d times", first.Said, again.Said, e.house.acted.Load())
	}
	if a := e.door.Call(t, Builder(), "thing.write", `{"name":"b"}`, "key-1"); !a.Failed || a.Kind != fault.Conflict {
		t.Errorf("another call under the same key: %+v", a)
	}
	if a := e.door.Call(t, Builder(), "thing.write", `{"name":"b"}`, strings.Repeat("k", 201)); !a.Failed || a.Kind != fault.Invalid {
		t.Errorf("a key that is too long: %+v", a)
	}
	other := Builder()
	other.Actor, other.Name = "act_other", "other"
	if a := e.door.Call(t, other, "thing.write", `{"name":"a"}`, "key-1"); a.Failed || e.house.acted.Load() != 2 {
		t.Errorf("somebody else's key: %+v, and it happened %d times", a, e.house.acted.Load())
	}
}

// stranger: whom nobody knows gets the same answer to everything, also to what does not exist, and nothing happens.
func (e exam) stranger(t *testing.T) {
	for _, name := range []string{"thing.look", "thing.write", "thing.send", "thing.hide", "thing.people", "thing.none"} {
		a := e.door.Call(t, op.Caller{}, name, `{"name":"a"}`, "")
		if !a.Failed || a.Kind != fault.Unauthenticated || strings.Contains(a.Said, "hidden") {
			t.Errorf("%s: %+v", name, a)
		}
	}
	e.idle(t)
}

// input: what is misspelt, missing, of another type or no JSON is refused, and nothing happens.
func (e exam) input(t *testing.T) {
	for _, in := range []string{`{"nmae":"a"}`, `{}`, `{"name":7}`, `{"name":"a","count":"x"}`, `{"name":"a","more":1}`, `[1]`, `{"name":`} {
		if a := e.door.Call(t, Builder(), "thing.write", in, ""); !a.Failed || a.Kind != fault.Invalid {
			t.Errorf("%s is taken: %+v", in, a)
		}
	}
	e.idle(t)
}

// answer: what the operation answered arrives whole, whatever its text is.
func (e exam) answer(t *testing.T) {
	const name = "a <b>&amp; \u2028 \U0001F44B \"q\""
	in, err := json.Marshal(thingIn{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	a := e.door.Call(t, Builder(), "thing.pass", string(in), "")
	var out thingOut
	if err := json.Unmarshal(a.Out, &out); a.Failed || err != nil || out != (thingOut{name, 1}) {
		t.Errorf("%+v, %v", a, err)
	}
}

func (e exam) idle(t *testing.T) {
	t.Helper()
	if n := e.house.acted.Load(); n != 0 {
		t.Errorf("something happened %d times", n)
	}
}
