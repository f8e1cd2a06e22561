package memory

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/memory/vector"
	"tandem/internal/memory/wire"
	"tandem/internal/testenv"
)

// A child adds records, makes all vectors anew as for another model, and forgets, as fast as it can, and prints each step once it is
// acknowledged. It is killed at a random instant, again and again, on the same file. After each kill every record is there whole or gone
// whole; at the end what was acknowledged holds, and the vectors that a cut-off left behind are made, each once.
func TestKillLeavesNoRecordHalf(t *testing.T) {
	if dsn := os.Getenv("TANDEM_MEMORY_DB"); dsn != "" {
		crashChild(t, dsn)
		return
	}
	dsn := filepath.Join(t.TempDir(), "a.db")
	b := newBench(t, dsn)
	random := testenv.Random(t)
	said, did := map[string]string{}, map[string]int{}
	rounds := testenv.Rounds(200)
	for i := 0; i < rounds || did["added"] < 20 || did["forgotten"] < 5 || did["embedded"] == 0; i++ { // a busy machine gets less far
		cmd := testenv.Again(t, "TANDEM_MEMORY_DB="+dsn, fmt.Sprint("TANDEM_MEMORY_ROUND=", i))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() || lines.Text() != "ready" {
			t.Fatalf("the child said %q", lines.Text())
		}
		timer := time.AfterFunc(time.Duration(random.IntN(400))*time.Millisecond, func() { cmd.Process.Kill() })
		for lines.Scan() {
			step, id, _ := strings.Cut(lines.Text(), " ")
			did[step]++
			if id != "" {
				said[id] = step
			}
		}
		testenv.Killed(t, cmd)
		timer.Stop()
		b.whole()
		if t.Failed() {
			t.Fatalf("after kill %d", i)
		}
	}
	for id, step := range said {
		var state, text string
		err := b.db.QueryRow(t.Context(), "SELECT state, text FROM memory_record WHERE id = ?", id).Scan(&state, &text)
		if err != nil || step == "forgotten" && (state != string(wire.Forgotten) || text != "") {
			t.Errorf("%s was %s, and is %s %q, %v", id, step, state, text, err)
		}
	}
	for range 5 { // what was cut off is found missing by the place's counts
		b.room = New(b.db)
		b.room.catchUp(t.Context(), "t", b.numbers())
	}
	table := vector.Builtin()
	if table == nil { // built without one
		return
	}
	b.none("live records without a vector of this model", `SELECT count(*) FROM memory_record r WHERE r.state = 'live' AND NOT EXISTS
		(SELECT 1 FROM memory_vector v WHERE v.tenant = r.tenant AND v.place = r.place AND v.nr = r.nr AND v.model = ?)`,
		table.Model)
	t.Logf("%d kills, %d added, %d forgotten, %d times all vectors", rounds, did["added"], did["forgotten"], did["embedded"])
}

func (b *bench) none(what, query string, args ...any) {
	b.t.Helper()
	var n int
	if err := b.db.QueryRow(b.t.Context(), query, args...).Scan(&n); err != nil || n != 0 {
		b.t.Errorf("%d %s, %v", n, what, err)
	}
}

// whole looks that every record has all that belongs to it, and a forgotten one nothing.
func (b *bench) whole() {
	b.t.Helper()
	for what, query := range map[string]string{
		"live records without words": `SELECT count(*) FROM memory_record r WHERE r.state = 'live' AND
			(r.text = '' OR NOT EXISTS (SELECT 1 FROM memory_posting p WHERE p.tenant = r.tenant AND p.nr = r.nr))`,
		"live records without their version": `SELECT count(*) FROM memory_record r WHERE r.state = 'live' AND NOT EXISTS
			(SELECT 1 FROM memory_version v WHERE v.tenant = r.tenant AND v.id = r.id AND v.version = r.version AND v.text = r.text)`,
		"live records without their source": `SELECT count(*) FROM memory_record r WHERE r.state = 'live' AND NOT EXISTS
			(SELECT 1 FROM memory_source s WHERE s.tenant = r.tenant AND s.id = r.id)`,
		"words of what is forgotten": `SELECT count(*) FROM memory_posting p WHERE NOT EXISTS
			(SELECT 1 FROM memory_record r WHERE r.tenant = p.tenant AND r.nr = p.nr AND r.state = 'live')`,
		"words noted of what is forgotten": `SELECT count(*) FROM memory_words w WHERE NOT EXISTS
			(SELECT 1 FROM memory_record r WHERE r.tenant = w.tenant AND r.nr = w.nr AND r.state = 'live')`,
		"words that are noted and not there": `SELECT count(*) FROM memory_words w WHERE length(w.words) - length(replace(w.words, '|', '')) <>
			(SELECT count(*) FROM memory_posting p WHERE p.tenant = w.tenant AND p.nr = w.nr)`,
		"vectors of what is forgotten": `SELECT count(*) FROM memory_vector v WHERE length(v.vec) > 0 AND NOT EXISTS
			(SELECT 1 FROM memory_record r WHERE r.tenant = v.tenant AND r.nr = v.nr AND r.state = 'live')`,
		"texts of what is forgotten": `SELECT count(*) FROM memory_version v JOIN memory_record r ON r.tenant = v.tenant AND r.id = v.id
			WHERE r.state = 'forgotten' AND (v.text <> '' OR r.text <> '')`,
		"sources of what is forgotten": `SELECT count(*) FROM memory_source s WHERE NOT EXISTS
			(SELECT 1 FROM memory_record r WHERE r.tenant = s.tenant AND r.id = s.id AND r.state = 'live')`,
		"places that count wrong": `SELECT count(*) FROM memory_place p WHERE p.texts <>
			(SELECT count(*) FROM memory_record r WHERE r.tenant = p.tenant AND r.place = p.nr AND r.state = 'live')`,
	} {
		b.none(what, query)
	}
}

// numbers are those of all places.
func (b *bench) numbers() (out []int64) {
	b.t.Helper()
	rows, err := b.db.Query(b.t.Context(), "SELECT nr FROM memory_place WHERE tenant = 't'")
	if err != nil {
		b.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var nr int64
		if err := rows.Scan(&nr); err != nil {
			b.t.Fatal(err)
		}
		out = append(out, nr)
	}
	return out
}

func crashChild(t *testing.T, dsn string) {
	b := newBench(t, dsn)
	fmt.Println("ready")
	for i := 0; ; i++ {
		var ids []string
		for n := range 6 {
			text := fmt.Sprintf("The turnip of round %s, %d and %d wants loam.", os.Getenv("TANDEM_MEMORY_ROUND"), i, n)
			out := must(b, ann, b.room.add, wire.AddIn{Text: text, Kind: wire.Fact, Tier: wire.OfProject, Of: "garden",
				Sources: []wire.Source{{Kind: "file", Ref: "garden.md"}}})
			fmt.Println("added", out.ID)
			ids = append(ids, out.ID)
		}
		if err := b.db.Write(ann, func(tx *db.Tx) error {
			_, err := tx.Exec("UPDATE memory_vector SET model = 'another' WHERE tenant = 't' AND model <> ?", gone)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		b.room = New(b.db)
		b.room.catchUp(t.Context(), "t", b.numbers())
		fmt.Println("embedded")
		for _, id := range ids[:3] {
			must(b, ann, b.room.forget, wire.IDIn{ID: id})
			fmt.Println("forgotten", id)
		}
	}
}
