package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/memory"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

// remembering is the room of memory on a file of its own, asked without a gate: what is measured is the finding.
type remembering struct {
	db   *db.DB
	room *memory.Room
	ctx  context.Context
}

func openMemory(file string) (*remembering, error) {
	ctx := op.WithCaller(context.Background(), op.Caller{Tenant: "bench", Actor: "act_bench", Name: "bench", Kind: op.Person})
	ctx = op.WithMay(ctx, func(string, op.Resource) bool { return true })
	d, err := db.Open(ctx, file, nil)
	if err == nil {
		_, err = d.Migrate(ctx, memory.Migrations)
	}
	return &remembering{d, memory.New(d), ctx}, err
}

// invoke runs a row of the room's table.
func (m *remembering) invoke(name string, in ...any) (out any, err error) {
	rows := m.room.Ops()
	i := slices.IndexFunc(rows, func(o op.Op) bool { return o.Name == name })
	if !rows[i].Changes() {
		return rows[i].RunRead(m.ctx, in[0])
	}
	err = m.db.Write(m.ctx, func(tx *db.Tx) error {
		for _, one := range in {
			if out, err = rows[i].RunState(m.ctx, tx, one); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

func (m *remembering) search(in wire.SearchIn) (wire.SearchOut, error) {
	out, err := m.invoke(string(wire.Search), in)
	if err != nil {
		return wire.SearchOut{}, err
	}
	return out.(wire.SearchOut), nil
}

// finding measures how memory is written and found at growing size, and what it finds of LoCoMo when its file is there.
func finding(entries int) (section, error) {
	s := section{title: "Memory", how: "The room of memory on SQLite, asked without a gate. Records of 20 words, drawn by Zipf's law, " +
		"100 in a change; searches of four words. LoCoMo (`LOCOMO=FILE make bench`, locomo10.json, not part of Tandem): share of " +
		"evidence turns among the first 5 and 10, conversations 5-9; settings were chosen on 0-4. Our own docs: paraphrased questions " +
		"(`bench/run/testdata/paraphrased.txt`), each about one paragraph, which lies in no session and has no neighbours. `LOCOMO_MODEL` " +
		"(a folder, or the address of an endpoint for embeddings) is asked as well."}
	dir, err := scratch("tandem-memory")
	if err != nil {
		return s, err
	}
	m, err := openMemory(filepath.Join(dir, "size.db"))
	if err != nil {
		return s, err
	}
	defer m.db.Close()
	plain, err := bareFTS(filepath.Join(dir, "bare.db"))
	if err != nil {
		return s, err
	}
	defer plain.Close()
	for have, size := 0, 10_000; size <= entries; have, size = size, size*10 {
		fmt.Fprintf(os.Stderr, "bench: memory fills up to %d records\n", size)
		took, used, err := spent(func() error { return m.fill(have, size) })
		if err != nil {
			return s, err
		}
		bare, bareUsed, err := spent(func() error { return fillBare(plain, have, size) })
		if err != nil {
			return s, err
		}
		n := float64(size - have)
		s.figures = append(s.figures, figure{what: fmt.Sprintf("adding up to %d records", size),
			value:    fmt.Sprintf("%s, %.0f in a second of CPU", perSecond(n/took.Seconds()), n/used.Seconds()),
			compared: fmt.Sprintf("texts alone into FTS5 %s, %.0f in a second of CPU", perSecond(n/bare.Seconds()), n/bareUsed.Seconds())})
		if err := m.pace(&s, size); err != nil {
			return s, err
		}
	}
	docs, err := readParaphrased(".")
	if err == nil {
		err = asked(&s, filepath.Join(dir, "docs"), "our own docs", []conversation{docs}, nil)
	}
	if err != nil {
		return s, err
	}
	file := os.Getenv("LOCOMO")
	if file == "" {
		s.figures = append(s.figures, figure{what: "LoCoMo", value: "not measured: LOCOMO names no file"})
		return s, nil
	}
	all, err := readLocomo(file)
	if err != nil {
		return s, err
	}
	some := all[5:]
	if os.Getenv("LOCOMO_CHOOSE") != "" {
		some = all[:5]
	}
	return s, asked(&s, filepath.Join(dir, "locomo"), "LoCoMo", some, map[int][2]float64{2: {.56, .64}, 3: {.58, .68}, 4: {.63, .72}})
}

// spent is how long something took, and how much of a processor.
func spent(do func() error) (took, used time.Duration, err error) {
	began, before := time.Now(), worked()
	err = do()
	return time.Since(began), worked() - before, err
}

// nth is the text of a record.
func nth(nr int) string { return fmt.Sprintf("%s %d", sentence(uint64(nr), 20), nr) }

// fill adds records.
func (m *remembering) fill(from, to int) error {
	var some []any
	for nr := from; nr < to; nr++ {
		some = append(some, wire.AddIn{Text: nth(nr)})
		if len(some) == 100 || nr == to-1 {
			if _, err := m.invoke(string(wire.Add), some...); err != nil {
				return err
			}
			some = nil
		}
	}
	return nil
}

// sentence are words of a made-up language.
func sentence(seed uint64, words int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	z := rand.NewZipf(r, 1.1, 100, 30_000) // words that stand everywhere are no words that are looked for
	var b strings.Builder
	for range words {
		for n := z.Uint64() + 20; n > 0; n /= 20 {
			b.WriteString([]string{"ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su", "ta", "ve", "wi", "xo",
				"zu"}[n%20])
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

// pace measures searches: the first of a room that was just made, and others when its vectors are read.
func (m *remembering) pace(s *section, size int) error {
	m.room = memory.New(m.db)
	ctx, stop := context.WithCancel(m.ctx)
	defer stop()
	go m.room.Run(ctx)
	began := time.Now()
	out, err := m.search(wire.SearchIn{Query: sentence(1<<40, 4)})
	first := time.Since(began)
	if err != nil {
		return err
	}
	how := out.How
	for !strings.Contains(out.How, "meaning") { // vectors are read behind searches
		if out, err = m.search(wire.SearchIn{Query: sentence(1<<40, 4)}); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	ready := time.Since(began)
	var took []time.Duration
	before := worked()
	for i := range 200 {
		began := time.Now()
		if _, err := m.search(wire.SearchIn{Query: sentence(uint64(i)<<32, 4)}); err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	used := (worked() - before) / 200
	slices.Sort(took)
	s.figures = append(s.figures, figure{fmt.Sprintf("first search of %d records", size), millis(first),
		how + "; by meaning after " + millis(ready), "< 500 ms", first < 500*time.Millisecond},
		figure{what: fmt.Sprintf("a search of %d records", size), value: fmt.Sprintf(
			"p50 %s, p99 %s, %s of a processor; the process holds %d MB",
			millis(took[100]), millis(took[197]), millis(used), residentNow(os.Getpid())>>10)})
	return nil
}

// asked asks the questions of each conversation of that conversation's memory.
func asked(s *section, files, what string, all []conversation, targets map[int][2]float64) error {
	ways := []string{"FTS5, as typed", "FTS5, without stop words", "by words and neighbours", "by words, by meaning and neighbours"}
	finds := []func(string, conversation) (func(string) ([]string, error), error){plainFTS, stoppedFTS, byWords, byAll}
	if where := os.Getenv("LOCOMO_MODEL"); where != "" {
		ways, finds = append(ways, "by words, by "+filepath.Base(where)+" and neighbours"), append(finds, byModel)
	}
	at5, at10 := make([][]float64, len(ways)), make([][]float64, len(ways))
	for n, c := range all {
		for w, find := range finds {
			ask, err := find(fmt.Sprintf("%s%d-%d.db", files, n, w), c)
			if err != nil {
				return err
			}
			for _, q := range c.questions {
				found, err := ask(q.text)
				if err != nil {
					return err
				}
				at5[w], at10[w] = append(at5[w], recall(q, found, 5)), append(at10[w], recall(q, found, 10))
			}
			fmt.Fprintf(os.Stderr, "bench: %s, %d of %d, %s: %d questions\n", what, n+1, len(all), ways[w], len(c.questions))
		}
	}
	for w, way := range ways {
		f := figure{what: fmt.Sprintf("%s, %d questions, %s", what, len(at5[w]), way),
			value: fmt.Sprintf("R@5 %.3f, R@10 %.3f", mean(at5[w]), mean(at10[w]))}
		if w > 1 {
			low, high := interval(at10[w], at10[1])
			f.compared = fmt.Sprintf("R@10 beside FTS5 without stop words: %+.3f [%+.3f, %+.3f]", mean(at10[w])-mean(at10[1]), low, high)
		}
		if t, ok := targets[w]; ok {
			f.target, f.met = fmt.Sprintf("≥ %.2f, %.2f", t[0], t[1]), mean(at5[w]) >= t[0] && mean(at10[w]) >= t[1]
		}
		s.figures = append(s.figures, f)
	}
	return nil
}
