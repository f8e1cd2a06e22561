package proof

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/automation/wire"
	"tandem/internal/client"
	"tandem/internal/installation"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/testenv"
)

// child is the automation that a node of chain is.
const child = `
name = "child"
[limits]
runs = 100
[[node]]
id = "say"
[node.command]
run = ["sh", "-c", "echo child >> done; echo child!"]
folder = "FOLDER"
[node.output.said.schema]
type = "string"
`

// chain has every kind of node. Its commands write a line each into a file that no server knows: how often they acted is counted there.
const chain = `
name = "chain"
[[trigger]]
id = "paid"
webhook = "generic"
[inputs.list]
type = "array"
items = { type = "string" }
[limits]
parallel = 3
runs = 100
[[node]]
id = "mark"
[node.operation]
name = "resource.put"
input = { key = "chain/mark", value = "good" }
[[node]]
id = "mood"
after = ["mark"]
[node.operation]
name = "resource.get"
input = { key = "chain/mark" }
[node.output.value.schema]
enum = ["good", "bad"]
[[node]]
id = "send"
[node.command]
run = ["sh", "-c", "echo once >> done; echo once!"]
folder = "FOLDER"
[node.output.said.schema]
type = "string"
[[node]]
id = "each"
[node.map]
over = "input.list"
max = 5
parallel = 2
[node.map.command]
run = ["sh", "-c", "echo \"$1\" >> done; echo \"$1!\"", "sh", "{{item}}"]
folder = "FOLDER"
[node.output.said.schema]
type = "string"
[[node]]
id = "think"
inputs = { sent = "send.said" }
[node.turn]
prompt = "Say something about {{sent}}"
[node.output.words.schema]
type = "string"
[[node]]
id = "table"
inputs = { rows = "input.list" }
[node.make]
from = "rows"
[node.output.file]
artifact = "json"
[[node]]
id = "which"
[node.branch]
on = "mood.value"
cases = { good = ["rest"], bad = ["never"] }
[[node]]
id = "never"
[node.command]
run = ["sh", "-c", "echo never >> done"]
folder = "FOLDER"
[[node]]
id = "rest"
[node.wait]
for = "20ms"
[[node]]
id = "look"
after = ["rest"]
[node.gate]
shows = ["send.said"]
[[node]]
id = "child"
[node.automation]
name = "child"
gives = { said = "say.said" }
[node.output.said.schema]
type = "string"
[[node]]
id = "hear"
after = ["rest"]
[node.wait]
webhook = "paid"
[node.output.body.schema]
type = "object"
[[node]]
id = "key"
after = ["mark"]
[node.wait]
condition = "chain/mark"
[node.output.value.schema]
type = "string"
[[node]]
id = "given"
after = ["rest"]
[node.wait]
handoff = "brief"
[node.output.pages.schema]
type = "integer"
[node.output.text]
artifact = "markdown"
[[node]]
id = "agree"
after = ["key"]
[node.wait]
approval = ["owner"]
[[node]]
id = "last"
inputs = { said = "send.said", all = "each.said" }
after = ["look", "agree", "hear", "given", "think", "table", "child"]
[node.command]
run = ["sh", "-c", "echo last >> done; echo \"$1\"", "sh", "{{said}} {{all}}"]
folder = "FOLDER"
[node.output.said.schema]
type = "string"
`

// chained is a run on real servers that are killed from outside, and the person beside it.
type chained struct {
	t      *testing.T
	folder string
	first  *server // the one that does what is due; the person speaks to the last
	last   *server
	hook   wire.MadeHook
	run    string
}

func doing[In, Out any](c *chained, what op.Def[In, Out], in In) (Out, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 20*time.Second)
	defer cancel()
	return op.Do(ctx, client.Socket(filepath.Join(c.last.data, "tandem.sock")).WithPIN(pin), what, in)
}

// doingWell is for what happens while no server is killed.
func doingWell[In, Out any](c *chained, what op.Def[In, Out], in In) Out {
	c.t.Helper()
	out, err := doing(c, what, in)
	if err != nil {
		c.t.Fatalf("%s: %v", what, err)
	}
	return out
}

// begin starts a run in which nothing has happened yet.
func (c *chained) begin() {
	c.t.Helper()
	if err := os.RemoveAll(filepath.Join(c.folder, "done")); err != nil {
		c.t.Fatal(err)
	}
	c.run = doingWell(c, wire.Begin, wire.BeginIn{Name: "chain", Input: map[string]any{"list": []any{"a", "b"}}}).ID
}

// acted is how often each thing happened.
func (c *chained) acted() map[string]int {
	out := map[string]int{}
	text, err := os.ReadFile(filepath.Join(c.folder, "done"))
	if err != nil && !os.IsNotExist(err) {
		c.t.Fatal(err)
	}
	for _, word := range strings.Fields(string(text)) {
		out[word]++
	}
	return out
}

// attend does once what a person and a sender do. It reports whether the run has ended; a server may be killed meanwhile.
func (c *chained) attend(run string, settles bool) (ended bool) {
	got, err := doing(c, wire.Trace, wire.RunIn{ID: run})
	if err != nil {
		return false
	}
	if got.Status != "running" {
		return true
	}
	for _, s := range got.Steps {
		switch {
		case s.Run != "" && s.State == "running":
			c.attend(s.Run, settles)
		case s.Ask != "" && s.State == "held":
			if ask, err := doing(c, approval.AskGet, approval.IDIn{ID: s.Ask}); err == nil && ask.State == approval.Pending {
				doing(c, approval.AskDecide, approval.DecideIn{ID: ask.ID, Verdict: approval.Approve, Digest: ask.Digest, //nolint:errcheck // next time
					Pages: ask.PageDigests()})
			}
		case s.Node == "hear" && s.State == "held":
			c.pay(run)
		case s.Node == "given" && s.State == "held":
			doing(c, wire.Hand, wire.HandIn{Name: "chain", Handoff: "brief", Run: run, //nolint:errcheck // next time, or it was before the kill
				Output: map[string]any{"pages": 3, "text": "# Brief"}})
		case s.State == "unknown" && settles:
			c.settle(run, s)
		}
	}
	return false
}

// settle is the person who looks outside and says whether a step acted.
func (c *chained) settle(run string, s wire.Step) {
	what := map[string]string{"send": "once", "say": "child", "last": "last"}[s.Node]
	said := what + "!"
	switch {
	case s.Node == "each":
		what = []string{"a", "b"}[s.Item-1]
		said = what + "!"
	case s.Node == "last":
		said = `once! ["a!","b!"]`
	case what == "":
		c.t.Fatalf("nobody knows what became of %s, which acts nowhere outside: %s", s.Node, s.Reason)
	}
	in := wire.StepIn{ID: run, Node: s.Node, Item: s.Item}
	if c.acted()[what] > 0 {
		in.Output = map[string]any{"said": said}
		doing(c, wire.Accept, in) //nolint:errcheck // next time
		return
	}
	doing(c, wire.Retry, in) //nolint:errcheck // next time
}

// pay sends the message that the run waits for; the same again is no second one.
func (c *chained) pay(run string) {
	body, at := `{"run":"`+run+`"}`, fmt.Sprint(time.Now().Unix())
	m := hmac.New(sha256.New, []byte(c.hook.Secret))
	m.Write([]byte(at + "." + body))
	req, err := http.NewRequestWithContext(c.t.Context(), "POST", c.last.url+c.hook.Path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("X-Tandem-Signature", "t="+at+",v1="+hex.EncodeToString(m.Sum(nil)))
	req.Header.Set("X-Tandem-Delivery", run)
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
	}
}

// right fails the test unless everything happened once, and every output is what it must be.
func (c *chained) right() {
	c.t.Helper()
	got := doingWell(c, wire.Trace, wire.RunIn{ID: c.run})
	if got.Status != "completed" {
		c.t.Errorf("the run is %s: %s", got.Status, got.Reason)
	}
	if acted := c.acted(); !maps.Equal(acted, map[string]int{"once": 1, "a": 1, "b": 1, "child": 1, "last": 1}) {
		c.t.Errorf("what happened outside: %v", acted)
	}
	wants := map[string]string{"child": "map[said:child!]", "hear": "map[body:map[run:" + c.run + "]]", "key": "map[value:good]",
		"last": `map[said:once! ["a!","b!"]]`, "each": "map[said:[a! b!]]"}
	for _, s := range got.Steps {
		if want := wants[s.Node]; want != "" && s.Item == 0 && fmt.Sprint(s.Output) != want {
			c.t.Errorf("%s gave %v, want %s", s.Node, s.Output, want)
		}
		if ref, _ := s.Output["text"].(map[string]any); s.Node == "given" && (fmt.Sprint(s.Output["pages"]) != "3" || ref["kind"] != "markdown") {
			c.t.Errorf("what was handed over is %v", s.Output)
		}
		if s.Node == "think" && (s.Turn == "" || fmt.Sprint(s.Output["words"]) == "") {
			c.t.Errorf("the turn gave %v", s.Output)
		}
	}
}

// prepare stores the automations, switches them on and makes the webhook's address.
func (c *chained) prepare() {
	c.t.Helper()
	near := client.Socket(filepath.Join(c.last.data, "tandem.sock"))
	if err := near.Call(c.t.Context(), "pin.set", map[string]string{"pin": pin}, nil); err != nil {
		c.t.Fatal(err)
	}
	doingWell(c, session.FolderGrant, session.FolderIn{Path: c.folder})
	for _, text := range []string{child, chain} {
		a := doingWell(c, wire.Add, wire.AddIn{Text: strings.ReplaceAll(text, "FOLDER", c.folder)})
		doingWell(c, wire.On, wire.OnIn{Name: a.Name, Digest: a.Latest})
	}
	c.hook = doingWell(c, wire.MakeHook, wire.MakeHookIn{Name: "chain"})
}

// goesOn attends until the run has ended, or until something else has.
func (c *chained) goesOn(until <-chan struct{}, settles bool) (ended bool) {
	c.t.Helper()
	late := time.After(3 * time.Minute)
	for {
		if c.attend(c.run, settles) {
			return true
		}
		select {
		case <-until:
			return false
		case <-late:
			got, err := doing(c, wire.Trace, wire.RunIn{ID: c.run})
			c.t.Fatalf("the run does not go on: %+v, %v", got, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// atSomeInstant kills the first server, and says when it is dead. Each kill of one run has longer to come than the one before: on a
// machine that is busy a start alone takes as long as the first, and nothing would ever go on.
func (c *chained) atSomeInstant(random *rand.Rand, before int) <-chan struct{} {
	dead := make(chan struct{})
	victim, wait := c.first, time.Duration(random.IntN(600_000+50_000*before))*time.Microsecond
	time.AfterFunc(wait, func() {
		killGroup(victim.cmd.Process.Pid) //nolint:errcheck // it is waited for
		<-victim.done
		close(dead)
	})
	return dead
}

// A run of sixteen nodes of every kind, on the real program, which is killed from outside at instants that chance chooses, again and
// again: every effect happens once or is asked about, every output is right, and the journal is sound.
func TestAKillFromOutsideRepeatsNoEffect(t *testing.T) {
	random := testenv.Random(t)
	s := newServer(t)
	c := &chained{t: t, folder: testenv.Dir(t), first: s, last: s}
	s.start()
	c.prepare()
	runs, kills := 0, testenv.Rounds(100)
	if testenv.Soak() {
		kills = 300
	}
	began := time.Now()
	for killed := 0; killed < kills; runs++ {
		c.begin()
		for before, ended := 0, false; !ended; before++ {
			dead := c.atSomeInstant(random, before)
			ended = c.goesOn(dead, true)
			<-dead
			killed++
			s.start()
		}
		if c.right(); t.Failed() {
			t.Fatalf("at run %d, after %d kills", runs, killed)
		}
	}
	s.must("audit", "verify")
	t.Logf("%d runs, %d kills, %s", runs, kills, time.Since(began).Round(time.Second))
	s.stop()
}

// onAMachineOfItsOwn has a server see another machine than this one: nothing tells its fellows that its process is gone, but that its lease
// is renewed no more.
func onAMachineOfItsOwn(t *testing.T, s *server, name string) {
	boot := filepath.Join(testenv.Dir(t), "boot")
	if err := os.WriteFile(boot, []byte(name+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.wrap = append(unshare(t, "-m"), "sh", "-ec", `mount --bind "$0" /proc/sys/kernel/random/boot_id; exec "$@"`, boot)
}

// takenOver is how many servers others ended; each of them had no lease any more.
func takenOver(t *testing.T, dsn string) (n int) {
	t.Helper()
	d, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rows, err := d.QueryContext(t.Context(), `SELECT s.id, s.ended_at - s.lease_until FROM server s JOIN server f ON f.id = s.ended_by
		WHERE f.folder <> s.folder`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for ; rows.Next(); n++ {
		var id string
		var after int64
		if err := rows.Scan(&id, &after); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s was ended %s after its lease", id, time.Duration(after)*time.Microsecond)
		if after < 0 {
			t.Errorf("%s was taken over from %s before its lease ended", id, -time.Duration(after)*time.Microsecond)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

// Two servers of a cluster on one PostgreSQL, as on two machines: the one that does what is due is killed in the middle of a run. The other
// takes it over after its lease, not before, and nothing happens twice.
func TestAFellowTakesARunOver(t *testing.T) {
	random := testenv.Random(t)
	dsn := testenv.Postgres(t)
	a, b := newServer(t), newServer(t)
	onAMachineOfItsOwn(t, a, "one")
	onAMachineOfItsOwn(t, b, "other")
	c := &chained{t: t, folder: testenv.Dir(t), first: a, last: a}
	for _, s := range []*server{a, b} {
		s.args = []string{"--database", dsn, "--cluster", "team"}
	}
	a.start()
	c.prepare()
	for _, name := range []string{"installation.json", "journal.key", "secret.key", "space.key"} {
		raw, err := os.ReadFile(filepath.Join(a.data, name))
		if err == nil {
			err = os.MkdirAll(b.data, 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(b.data, name), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	kept, err := installation.Read(b.data)
	if err == nil {
		kept.Home = "hom_b"
		err = kept.Write(b.data)
	}
	if err != nil {
		t.Fatal(err)
	}
	b.start()
	c.last = b
	doingWell(c, session.FolderGrant, session.FolderIn{Path: c.folder})
	taken := 0
	for range testenv.Rounds(10) {
		c.begin()
		dead := c.atSomeInstant(random, 0)
		ended := c.goesOn(dead, false)
		<-dead
		killed := time.Now()
		if !ended {
			c.goesOn(nil, true)
			t.Logf("it ended %s after the kill", time.Since(killed).Round(100*time.Millisecond))
			now := takenOver(t, dsn)
			if now <= taken {
				t.Error("nobody was taken over from, and the run went on")
			}
			taken = now
		}
		c.right()
		c.last.must("audit", "verify")
		c.first.start()
		c.first, c.last = c.last, c.first
		if t.Failed() {
			return
		}
	}
	for _, s := range slices.Backward([]*server{a, b}) {
		s.stop()
	}
}
