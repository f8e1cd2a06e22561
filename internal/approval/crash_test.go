package approval

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// A child process files, answers and spends asks as fast as it can and prints each step once it is acknowledged. It is killed
// at a random instant, again and again, on the same file. Afterwards every acknowledged step must be there, and
// every approval was used at most once: the child's side effect is a row in the transaction that spends.
func TestKillLosesNothingAndRepeatsNothing(t *testing.T) {
	if dsn := os.Getenv("TANDEM_CRASH_DB"); dsn != "" {
		crashChild(t, dsn)
		return
	}
	dsn := filepath.Join(t.TempDir(), "a.db")
	random := testenv.Random(t)
	said := map[string]bool{}
	rounds := testenv.Rounds(60)
	for i := 0; i < rounds || len(said) < 20; i++ { // a busy machine acknowledges less before each kill
		cmd := testenv.Again(t, "TANDEM_CRASH_DB="+dsn)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() {
			t.Fatal("the child said nothing")
		}
		timer := time.AfterFunc(time.Duration(random.IntN(150))*time.Millisecond, func() { cmd.Process.Kill() })
		for lines.Scan() {
			said[lines.Text()] = true
		}
		testenv.Killed(t, cmd)
		timer.Stop()
	}
	d := crashDB(t, dsn)
	steps := 0
	for line := range said {
		step, askID, ok := strings.Cut(line, " ")
		if !ok || !strings.HasPrefix(askID, "ask_") {
			continue
		}
		steps++
		a, err := scan(d.QueryRow(t.Context(), "SELECT "+columns+" FROM approval WHERE tenant = 'local' AND id = ?", askID))
		if err != nil {
			t.Fatalf("%s was acknowledged: %v", line, err)
		}
		if (step == "answered" && a.State == Pending) || (step == "spent" && a.State != Spent) {
			t.Errorf("%s was acknowledged, and the ask is %s", line, a.State)
		}
	}
	if steps < 10 {
		t.Fatalf("only %d steps were acknowledged before the kills", steps)
	}
	var wrong int
	if err := d.QueryRow(t.Context(),
		`SELECT count(*) FROM approval a FULL JOIN (SELECT ask, count(*) AS n FROM effect GROUP BY ask) e ON e.ask = a.id
		WHERE (a.state = 'spent') <> (COALESCE(e.n, 0) = 1) OR a.id IS NULL`).Scan(&wrong); err != nil {
		t.Fatal(err)
	}
	if wrong != 0 {
		t.Errorf("%d asks were spent without their effect, or more than once", wrong)
	}
	t.Logf("%d acknowledged steps checked", steps)
}

func crashDB(t *testing.T, dsn string) *db.DB {
	d, err := db.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	err = d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec("CREATE TABLE IF NOT EXISTS effect (ask TEXT NOT NULL)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func crashChild(t *testing.T, dsn string) {
	d := crashDB(t, dsn)
	r := New(d, ByName)
	ctx := context.Background()
	fmt.Println("ready")
	for i := 0; ; i++ {
		call := edit(agent("builder"), fmt.Sprint(i%7)) // repeats, so that later children meet the asks of those who died
		var a *Ask
		var passed bool
		if err := d.Write(ctx, func(tx *db.Tx) (err error) { a, _, err = r.File(tx, call); return err }); err != nil {
			t.Fatal(err)
		}
		fmt.Println("filed", a.ID)
		if a.State == Pending {
			err := d.Write(ctx, func(tx *db.Tx) error {
				_, err := r.decide(op.WithCaller(ctx, person("ann")), tx,
					DecideIn{ID: a.ID, Verdict: Approve, Digest: a.Digest, Pages: a.PageDigests()})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Println("answered", a.ID)
		}
		err := d.Write(ctx, func(tx *db.Tx) (err error) {
			if a, passed, err = r.Spend(tx, "local", call.Caller.Actor, call.Digest); err != nil || !passed {
				return err
			}
			_, err = tx.Exec("INSERT INTO effect (ask) VALUES (?)", a.ID)
			return err
		})
		if err != nil || !passed {
			t.Fatal(err, passed)
		}
		fmt.Println("spent", a.ID)
	}
}
