package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// maxFile is how large a definition may be.
const maxFile = 256 << 10

// Problem is one thing that is wrong, and where.
type Problem struct {
	Where string `json:"where,omitempty"` // "line 7", "node draft", "trigger nightly"
	Text  string `json:"text"`
}

func (p Problem) String() string {
	if p.Where == "" {
		return p.Text
	}
	return p.Where + ": " + p.Text
}

// Problems is all that is wrong with a definition. It is an error.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// Read reads a definition, fills in defaults and checks it. An error is of type Problems.
func Read(data []byte) (*Automation, error) {
	a, err := Kept(data)
	if err != nil {
		return nil, err
	}
	if all := a.spliced(); len(all) > 0 {
		return nil, all
	}
	return a, nil
}

// Kept is Read for a definition that was taken in before: what Command.Spliced refuses may be in it, and is not done.
func Kept(data []byte) (*Automation, error) {
	if len(data) > maxFile {
		return nil, Problems{{Text: fmt.Sprintf("the file has %d bytes; %d are allowed", len(data), maxFile)}}
	}
	var a Automation
	meta, err := toml.Decode(string(data), &a)
	if err != nil {
		return nil, Problems{unread(err)}
	}
	var all Problems
	for _, key := range meta.Undecoded() {
		if !free(key) {
			all = append(all, Problem{Text: fmt.Sprintf("nobody knows the key %q", clip(key.String()))})
		}
	}
	a.fill()
	if all = append(all, a.check()...); len(all) > 0 {
		return nil, all
	}
	a.needs = a.before()
	return &a, nil
}

// unread turns the reader's error into a problem with its line.
func unread(err error) Problem {
	var syntax toml.ParseError
	if errors.As(err, &syntax) {
		return Problem{Where: fmt.Sprintf("line %d", syntax.Position.Line), Text: syntax.Message}
	}
	return Problem{Text: strings.TrimPrefix(err.Error(), "toml: ")}
}

// free reports whether a key lies in a schema, which reads itself, or in an operation's input, which has any keys.
func free(key toml.Key) bool {
	for i, part := range key {
		if part == "schema" && i > 1 || part == "inputs" && i == 0 || part == "input" && i > 0 && key[i-1] == "operation" {
			return true
		}
	}
	return false
}

// Digest names what a definition means.
func (a *Automation) Digest() string {
	data, err := json.Marshal(a)
	if err != nil {
		panic(fmt.Sprintf("a definition that was read cannot be written: %v", err)) // it came from TOML, which has no such values
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

const day = 24 * time.Hour

func (a *Automation) fill() {
	if a.Profile == "" {
		a.Profile = Guided
	}
	l := &a.Limits
	orInt(&l.Nodes, 200)
	orInt(&l.Attempts, 5)
	orInt(&l.Items, 100)
	orInt(&l.Parallel, 4)
	orInt(&l.Runs, 1)
	if l.Tokens == 0 {
		l.Tokens = 2_000_000
	}
	if l.Cost == 0 {
		l.Cost = 10
	}
	orTime(&l.Time, 7*day)
	for i := range a.Triggers {
		a.Triggers[i].fill(i)
	}
	for i := range a.Nodes {
		a.Nodes[i].fill(time.Duration(l.Time))
	}
}

// fill writes the defaults of a node out, none longer than its run may last.
func (n *Node) fill(most time.Duration) {
	orInt(&n.Retry.Attempts, 1)
	if n.Retry.Attempts > 1 {
		orTime(&n.Retry.Wait, 10*time.Second)
		orTime(&n.Retry.Most, 10*time.Minute)
		if n.Retry.Factor == 0 {
			n.Retry.Factor = 2
		}
	}
	if n.OnFailure == "" {
		n.OnFailure = FailRun
	}
	orTime(&n.Budget.Time, min(most, 30*time.Minute))
	if w := n.Wait; w != nil {
		orTime(&w.Timeout, min(most, 3*day))
		if w.OnTimeout == "" {
			w.OnTimeout = Cancel
		}
	}
	if g := n.Gate; g != nil {
		orTime(&g.Expires, min(most, 3*day))
		if g.OnExpiry == "" {
			g.OnExpiry = Cancel
		}
	}
	if m := n.Map; m != nil {
		orInt(&m.Parallel, 1)
	}
}

func orInt(n *int, otherwise int) {
	if *n == 0 {
		*n = otherwise
	}
}

func orTime(d *Duration, otherwise time.Duration) {
	if *d == 0 {
		*d = Duration(otherwise)
	}
}
