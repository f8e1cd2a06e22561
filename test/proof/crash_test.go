package proof

import (
	"context"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// kill -9 at random instants under load: after a restart every acknowledged
// write is there, nothing happened twice, and the journal verifies.
func TestKillNine(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { killNine(t, newServer(t)) })
	t.Run("postgres", func(t *testing.T) {
		s := newServer(t)
		s.args = []string{"--database", testenv.Postgres(t)}
		killNine(t, s)
	})
}

func killNine(t *testing.T, s *server) {
	random := testenv.Random(t)
	s.start()
	l := newLoad(s)
	rounds := testenv.Rounds(200)
	for i := range rounds {
		if i > 0 {
			s.start()
		}
		ctx, cancel := context.WithCancel(context.Background())
		busy, wait := random.IntN(5) > 0, time.Duration(random.IntN(200_000))*time.Microsecond
		go func() {
			if busy { // on a slow machine, too, most kills fall into work
				l.awaitProgress(10 * time.Second)
			}
			time.Sleep(wait)
			s.kill9()
			cancel()
		}()
		l.run(ctx, 8)
		<-ctx.Done()
	}
	s.start()
	l.settle(t)
	s.must("audit", "verify")
	t.Logf("%d kills; acknowledged: %d writes, %d increments, %d asks, %d tokens, %d secrets", rounds, l.first, l.adds, len(l.asks),
		len(l.tokens), len(l.secrets))
	if l.first < rounds/2 {
		t.Errorf("only %d writes in %d rounds: this proves little", l.first, rounds)
	}
	s.stop()
}

// The same with the server alive and its connections to PostgreSQL cut: it
// says that it cannot reach it, and goes on when it can.
func TestCutPostgres(t *testing.T) {
	random := testenv.Random(t)
	dsn := testenv.Postgres(t)
	s := newServer(t)
	s.args = []string{"--database", dsn}
	s.start()
	l := newLoad(s)
	ctx, cancel := context.WithCancel(context.Background())
	cuts := testenv.Rounds(200)
	go func() {
		defer cancel()
		for range cuts {
			time.Sleep(time.Duration(random.IntN(200_000)) * time.Microsecond)
			testenv.CutPostgres(t, dsn)
		}
	}()
	l.run(ctx, 8)
	l.settle(t)
	s.must("audit", "verify")
	t.Logf("%d cuts; acknowledged: %d writes, %d increments, %d asks, %d tokens, %d secrets", cuts, l.first, l.adds, len(l.asks),
		len(l.tokens), len(l.secrets))
	s.stop()
}
