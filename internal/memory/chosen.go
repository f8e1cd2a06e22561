package memory

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/memory/bert"
	"tandem/internal/memory/vector"
	"tandem/internal/op"
)

// Models is what the room needs of others to have a model say where texts point. Without Ask and Fetch the table that is built in is all.
type Models struct {
	// Ask has a provider's model, provider/model, point texts.
	Ask func(ctx context.Context, tenant, model string, texts []string) ([][]float32, error)
	// Leaves says whether what such a model is told leaves the house, and Goes whether what lies somewhere may.
	Leaves func(ctx context.Context, tenant, model string) (bool, error)
	Goes   func(ctx context.Context, tenant string, at op.Resource) (bool, error)
	// Fetch opens what is at an address.
	Fetch func(ctx context.Context, tenant, address string) (io.ReadCloser, error)
	// Folder is where the files of models are kept; House the tenant that may name a folder of this machine.
	Folder, House string
	Vouch         op.Vouch
}

// The kinds of model.
const (
	ofProvider = "endpoint"
	ofFiles    = "files"
)

// chosen is the model that a tenant's people chose. What is found out about it (its name, how long its vectors are, what all texts share)
// stays empty until it was tried.
type chosen struct {
	tenant, kind, ref, digest string
	asks, tells               string // what stands before a question and before a record
	setBy                     string
	setAt                     time.Time
	name                      string
	dims                      int
	shared                    []float32
	problem                   string
}

const modelColumns = "tenant, kind, ref, digest, asks, tells, set_by, set_at, name, dims, shared, problem"

func scanChosen(rows *sql.Rows) (*chosen, error) {
	var c chosen
	var at int64
	var shared []byte
	err := rows.Scan(&c.tenant, &c.kind, &c.ref, &c.digest, &c.asks, &c.tells, &c.setBy, &at, &c.name, &c.dims, &shared, &c.problem)
	c.setAt = db.Time(at)
	for ; len(shared) >= 4; shared = shared[4:] {
		c.shared = append(c.shared, math.Float32frombits(binary.LittleEndian.Uint32(shared)))
	}
	return &c, err
}

// choices are the models that were chosen, of one tenant or of all.
func choices(q asker, tenant string) ([]*chosen, error) {
	rows, err := q.Query("SELECT "+modelColumns+" FROM memory_model WHERE ? = '' OR tenant = ?", tenant, tenant)
	return db.Collect(rows, err, scanChosen)
}

// choice is a tenant's, nil when there is none.
func choice(q asker, tenant string) (*chosen, error) {
	all, err := choices(q, tenant)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[0], nil
}

// subject is by which the journal speaks of the choice: where the texts of records are sent, and what computes with them.
const subject = "memory-model:chosen"

func (c *chosen) seal() op.Sealed {
	return op.Sealed{Tenant: c.tenant, Subject: subject, What: "the model that reads what is remembered, " + c.ref,
		Says: []string{c.kind, c.ref, c.digest, c.asks, c.tells}}
}

// Rows are the choices that the journal vouches for.
func Rows(ctx context.Context, d *db.DB) (out []op.Sealed, err error) {
	all, err := choices(outside{ctx, d}, "")
	for _, c := range all {
		out = append(out, c.seal())
	}
	return out, err
}

// namedOf is by what the vectors of a model are known: they are made anew when anything changes that they depend on.
func (c *chosen) namedOf(f bert.Files, dims int) string {
	of := [][]byte{[]byte(c.kind), []byte(c.ref), []byte(c.asks), []byte(c.tells)}
	if c.kind == ofFiles {
		of = append(of, []byte(c.digest), f.Config, f.Vocab, f.Pooling)
	}
	sum := sha256.New()
	for _, part := range append(of, binary.LittleEndian.AppendUint32(nil, uint32(dims))) {
		fmt.Fprintf(sum, "%d:", len(part))
		sum.Write(part)
	}
	return c.kind + "-" + hex.EncodeToString(sum.Sum(nil))[:12]
}

// called is what people call it.
func (c *chosen) called() string {
	if c.kind == ofFiles {
		return c.ref[strings.LastIndexAny(strings.TrimRight(c.ref, "/"), "/")+1:]
	}
	return c.ref
}

// direction is where a model's numbers point, without what it says of every text.
func (c *chosen) direction(v []float32) vector.Vector {
	if len(v) != c.dims {
		return nil
	}
	out := unit(v)
	for i, x := range c.shared {
		out[i] -= x
	}
	return vector.Direction(out)
}

func unit(v []float32) []float32 {
	var long float64
	for _, x := range v {
		long += float64(x) * float64(x)
	}
	out := make([]float32, len(v))
	if long = math.Sqrt(long); long > 0 {
		for i, x := range v {
			out[i] = float32(float64(x) / long)
		}
	}
	return out
}

// samples are sentences that have nothing to do with each other: what a model says of all of them it says of every text.
var samples = []string{
	"The train to the coast leaves at seven in the morning.", "Add two eggs and stir until the dough is smooth.",
	"func Sum(numbers []int) (total int)", "The committee rejected the budget by three votes.",
	"Glaciers carve valleys over thousands of years.",
	"Her violin needs new strings before the concert.", "error: connection refused by the host", "Cats sleep for most of the day.",
	"The contract ends after a notice of ninety days.", "Set the environment variable before you start the program.",
	"Photosynthesis turns light into sugar.", "He scored twice in the second half.", "What is the capital of Mongolia?",
	"The patient should rest and drink a lot of water.", "Rust forms where iron meets air and water.",
	"SELECT name FROM customers ORDER BY age",
	"We painted the kitchen in a pale yellow.", "The novel begins on a ship in a storm.", "Interest rates rose again in spring.",
	"Tests must pass before a change is merged.", "The satellite sends pictures every hour.", "Please reply by Friday if you want to come.",
	"Bees find their way by the position of the sun.", "Passwords are stored as salted hashes.",
}
