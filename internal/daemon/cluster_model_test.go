//go:build unix

package daemon

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// asked is what somebody asked of a server.
type asked struct {
	key, verb, arg string
	rev            int64
}

// heard is the answer; unknown is that of a server which was killed meanwhile.
type heard struct {
	ok, unknown bool
	rev         int64
	value       string
}

// clusterModel is one server that does one thing after the other. Keys are apart from each other; what kind of thing a key is, its first
// word says.
var clusterModel = (&porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) (out [][]porcupine.Operation) {
		by := map[string][]porcupine.Operation{}
		for _, o := range history {
			k := o.Input.(asked).key
			by[k] = append(by[k], o)
		}
		for _, p := range by {
			out = append(out, p)
		}
		return out
	},
	Init: func() []any { return []any{""} },
	Step: func(state, input, output any) []any {
		s, in, out := state.(string), input.(asked), output.(heard)
		kind, _, _ := strings.Cut(in.key, "/")
		next, ok := steps[kind](s, in, out)
		switch {
		case out.unknown && ok && next != s:
			return []any{s, next}
		case out.unknown:
			return []any{s}
		case !ok:
			return nil
		}
		return []any{next}
	},
	Equal: func(a, b any) bool { return a == b },
}).ToModel()

// steps say what a thing becomes, and whether the answer is one that it may give. Of an unknown answer only success is asked about.
var steps = map[string]func(state string, in asked, out heard) (string, bool){
	// A register is REV=VALUE, "" while it is not there.
	"register": func(s string, in asked, out heard) (string, bool) {
		var rev int64
		var value string
		if r, v, there := strings.Cut(s, "="); there {
			rev, _ = strconv.ParseInt(r, 10, 64)
			value = v
		}
		switch {
		case in.verb == "get":
			return s, out.rev == rev && out.value == value
		case out.unknown || out.ok:
			return fmt.Sprintf("%d=%s", rev+1, in.arg), in.rev == rev && (out.unknown || out.rev == rev+1)
		}
		return s, in.rev != rev
	},
	// A claim is who has it.
	"claim": func(s string, in asked, out heard) (string, bool) {
		free := map[string]string{"take": "", "release": in.arg}[in.verb]
		then := map[string]string{"take": in.arg, "release": ""}[in.verb]
		if out.unknown || out.ok {
			return then, s == free
		}
		return s, s != free
	},
	// What is done once for each idempotency key: KEY KEY …, in the order in which they were done.
	"once": func(s string, in asked, out heard) (string, bool) {
		done := strings.Fields(s)
		if n := slices.Index(done, in.arg); n >= 0 {
			return s, out.unknown || out.ok && out.rev == int64(n+1)
		}
		return strings.Join(append(done, in.arg), " "), out.unknown || out.ok && out.rev == int64(len(done)+1)
	},
	// An ask is open, decided by one, and spent by one.
	"ask": func(s string, in asked, out heard) (string, bool) {
		from := map[string]string{"decide": "", "spend": "decided"}[in.verb]
		then := map[string]string{"decide": "decided", "spend": "spent"}[in.verb]
		if out.unknown || out.ok {
			return then, s == from
		}
		return s, s != from
	},
}
