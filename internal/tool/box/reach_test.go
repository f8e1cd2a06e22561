package box_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"tandem/internal/tool/box"
)

// Where a box is kept from the abstract sockets of others, loopback goes on: what a program serves in there (a dev server, OpenCode's own
// server) is reached from outside and from inside, by its port. That it reaches a model on loopback TestAbstractSocketsStayOutside shows.
func TestADevServerIsReached(t *testing.T) {
	m := find(t, box.Bubblewrap)
	for _, nests := range []string{"", "codex"} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd, done, err := m.Command(ctx, box.Box{Dir: "/", Network: true, Nests: nests, Env: []string{"PATH=/usr/bin:/bin"},
			Argv: []string{"/usr/bin/perl", "-MIO::Socket::INET", "-e", `$| = 1;
				$s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 5) or die "$@\n"; print $s->sockport, "\n";
				if (!fork) { $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $s->sockport) or die "$@\n"; print "inside ", <$c>; exit }
				for (1, 2) { $c = $s->accept; print $c "served\n"; close $c } wait`}})
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		said := bufio.NewReader(out)
		port, err := said.ReadString('\n')
		if err != nil {
			t.Fatalf("nests %q: it serves nothing: %v", nests, err)
		}
		c, err := net.Dial("tcp", "127.0.0.1:"+strings.TrimSpace(port))
		if err != nil {
			t.Fatalf("nests %q: it is not reached: %v", nests, err)
		}
		got, _ := io.ReadAll(c)
		c.Close()
		inside, _ := io.ReadAll(said)
		if string(got) != "served\n" || string(inside) != "inside served\n" {
			t.Errorf("nests %q: outside %q, inside %q", nests, got, inside)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("nests %q: %v", nests, err)
		}
		done()
		cancel()
	}
}
