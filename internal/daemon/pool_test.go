package daemon

import (
	"fmt"
	"net"
	"testing"

	"tandem/internal/fault"
)

// fakeConn is a connection that is only opened and closed.
type fakeConn struct {
	net.Conn
	gone bool
}

func (c *fakeConn) Close() error { c.gone = true; return nil }

func enter(p *pool, from string) (*place, *fakeConn) {
	c := &fakeConn{}
	return p.take(c, from).(*place), c
}

// Whoever holds most without saying who it is loses its oldest; whoever showed a credential stays.
func TestAFullPoolMakesRoom(t *testing.T) {
	p := newPool(16)
	known, knownConn := enter(p, "10.0.0.9")
	if err := known.keep("token"); err != nil {
		t.Fatal(err)
	}
	_, other := enter(p, "10.0.0.2")
	var flood []*fakeConn
	for range 100 {
		_, c := enter(p, "10.0.0.9") // of the very address of the honest one
		flood = append(flood, c)
	}
	left := 0
	for _, c := range flood {
		if !c.gone {
			left++
		}
	}
	if knownConn.gone || other.gone || left != p.max/2 || !flood[0].gone || flood[99].gone {
		t.Errorf("known gone %v, other gone %v, %d of the flood are left", knownConn.gone, other.gone, left)
	}
	for i := range 50 { // from everywhere
		enter(p, fmt.Sprintf("10.1.0.%d", i))
	}
	if knownConn.gone || p.open != p.max {
		t.Errorf("known gone %v, %d open", knownConn.gone, p.open)
	}
	known.Close()
	known.Close()
	if p.open != p.max-1 {
		t.Errorf("%d open after one was closed", p.open)
	}
}

// A credential holds a quarter, and where all places are held by known callers those go on which nothing is asked.
func TestACredentialHoldsAQuarter(t *testing.T) {
	p := newPool(16)
	var all []*fakeConn
	var places []*place
	for i := range 16 {
		in, c := enter(p, "10.0.0.1")
		if err := in.keep(fmt.Sprintf("token%d", i/4)); err != nil {
			t.Fatal(err)
		}
		in.asking(1)
		all, places = append(all, c), append(places, in)
	}
	if _, c := enter(p, "10.0.0.2"); !c.gone {
		t.Error("somebody came in though something is asked on every connection")
	}
	places[5].asking(-1)
	in, c := enter(p, "10.0.0.2")
	if c.gone || !all[5].gone || p.open != 16 {
		t.Errorf("gone %v, the idle one is gone %v, %d open", c.gone, all[5].gone, p.open)
	}
	if err := in.keep("token0"); !fault.Is(err, fault.Exhausted) {
		t.Errorf("a fifth connection of one credential: %v", err)
	}
	if err := in.keep("token1"); err != nil {
		t.Errorf("of the one that has three: %v", err)
	}
}

func TestSourceOfAnAddress(t *testing.T) {
	for in, want := range map[string]string{"10.0.0.1:5": "10.0.0.1", "[::ffff:10.0.0.1]:5": "10.0.0.1", "[2001:db8::1:2]:5": "2001:db8::/64",
		"[fe80::1%eth0]:5": "fe80::/64"} {
		a, err := net.ResolveTCPAddr("tcp", in)
		if err != nil {
			t.Fatal(err)
		}
		if got := source(a.String()); got != want {
			t.Errorf("%s is of %s, not %s", in, got, want)
		}
	}
}
