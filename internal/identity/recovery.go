package identity

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"os"
	"strconv"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// Who forgot the PIN and lost the passkey has two ways back: a recovery code, which was shown when the PIN was set and works once,
// or, where the server does not run as root, root of the machine, whose recovery everybody is told of and who waits a day.

const (
	codeCount = 8
	codeBytes = 10 // of chance: nobody guesses 80 bits at a try a minute
	rootWait  = 24 * time.Hour
)

// ByRoot is what a caller holds who is root of the machine and said that it is about recovery.
const ByRoot = "root"

func newCode() string {
	raw := make([]byte, codeBytes)
	rand.Read(raw)
	text := letters.EncodeToString(raw)
	return text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:]
}

// codeHash takes a code as people type it: with or without dashes and spaces, in any case.
func codeHash(code string) []byte {
	return hashOf("recovery code " + strings.ToLower(strings.NewReplacer("-", "", " ", "").Replace(code)))
}

// codeRow is a recovery code as its row has it.
type codeRow struct {
	tenant, id, actor string
	hash              []byte
	used              int64
}

const codeColumns = "tenant, id, actor, hash, used_at"

func scanCode(row interface{ Scan(...any) error }) (c codeRow, err error) {
	return c, row.Scan(&c.tenant, &c.id, &c.actor, &c.hash, &c.used)
}

// Seal is a recovery code: whose PIN it replaces, and what opens it.
func (c codeRow) Seal() op.Sealed {
	s := op.Sealed{Tenant: c.tenant, Subject: "code:" + c.id, Says: []string{c.id, c.actor, hex.EncodeToString(c.hash)},
		What: "the recovery code " + c.id + " of " + c.actor}
	if c.used != 0 {
		s.Says = []string{c.id, takenBack}
		s.What += ", used"
	}
	return s
}

// recoveryRow is a recovery that root began.
type recoveryRow struct {
	tenant, id, actor   string
	started, due, ended int64
}

const recoveryColumns = "tenant, id, actor, started_at, due_at, ended_at"

func scanRecovery(row interface{ Scan(...any) error }) (x recoveryRow, err error) {
	return x, row.Scan(&x.tenant, &x.id, &x.actor, &x.started, &x.due, &x.ended)
}

// Seal is a recovery: whose, and from when on it counts.
func (x recoveryRow) Seal() op.Sealed {
	s := op.Sealed{Tenant: x.tenant, Subject: "recovery:" + x.id, Says: []string{x.id, x.actor, strconv.FormatInt(x.due, 10)},
		What: "the recovery " + x.id + " of " + x.actor}
	if x.ended != 0 {
		s.Says = []string{x.id, takenBack}
		s.What += ", ended"
	}
	return s
}

// RecoveryOut says how a forgotten PIN could be replaced.
type RecoveryOut struct {
	PIN     bool        `json:"pin_set"`
	Codes   int         `json:"codes" jsonschema:"recovery codes that were not used yet"`
	ByRoot  bool        `json:"root_can_begin" jsonschema:"root of the machine can begin a recovery; not where the server runs as root itself"`
	Pending *PendingOut `json:"pending,omitempty" jsonschema:"the recovery that root began"`
}

// PendingOut is a recovery that root began.
type PendingOut struct {
	ID        string    `json:"id"`
	StartedAt time.Time `json:"started_at"`
	DueAt     time.Time `json:"due_at" jsonschema:"from then on root can set a new PIN, unless somebody stops it"`
	Due       bool      `json:"due"`
}

// StopIn names a recovery.
type StopIn struct {
	ID string `json:"id,omitempty" jsonschema:"the recovery's id, rec_…; whatever is under way when left out"`
}

// CodesOut shows recovery codes once.
type CodesOut struct {
	Codes []string `json:"codes" jsonschema:"shown this once; each works once"`
}

// PINOut says that a PIN is set.
type PINOut struct {
	OK    bool     `json:"ok"`
	Codes []string `json:"codes,omitempty" jsonschema:"recovery codes, when there were none: shown this once, each works once"`
	Left  int      `json:"codes_left" jsonschema:"recovery codes that were not used yet"`
}

// Recovered is what happened about recovery, for whoever tells people.
type Recovered struct {
	Tenant string
	What   string // used, begun, stopped, finished
	Due    time.Time
	Left   int
}

func recoveryAt[In any](In) op.Resource { return op.Resource{Kind: "server", Path: "/recovery"} }

func (r *Room) recoveryOps() []op.Op {
	return []op.Op{
		RecoveryShow.Read(op.Spec{Right: "server.view", Method: "GET", Path: "/recovery", MCP: "-",
			Doc: "Say how a forgotten PIN could be replaced: how many recovery codes are left, and whether root of the machine began a recovery."},
			recoveryAt[Nothing], func(ctx context.Context, _ Nothing) (RecoveryOut, error) {
				return r.Recovery(ctx, op.CallerFrom(ctx).Tenant)
			}),
		RecoveryCodes.State(op.Spec{Once: true, Right: "server.execute", MCP: "-", Socket: true, Present: true, People: true,
			Doc: "Make new recovery codes and show them once. Those from before stop working. Needs a person present."},
			recoveryAt[Nothing], func(ctx context.Context, tx *db.Tx, _ Nothing) (CodesOut, error) {
				codes, err := r.makeCodes(ctx, tx, op.CallerFrom(ctx).Tenant, WellKnown(Owner))
				return CodesOut{codes}, err
			}),
		RecoveryUse.State(op.Spec{Once: true, Right: "server.execute", Secret: []string{"pin"}, MCP: "-", Socket: true,
			Doc: "Set a new PIN with a recovery code, which works once, or as root of the machine a day after recovery.begin."},
			recoveryAt[PINIn], r.recoverPIN),
		RecoveryBegin.State(op.Spec{Right: "server.execute", MCP: "-", Socket: true,
			Doc: "Begin a recovery as root of the machine. Every browser is told; after a day root can set a new PIN, unless somebody stops it."},
			recoveryAt[Nothing], r.beginRecovery),
		RecoveryStop.State(op.Spec{Right: "server.execute", Method: "POST", Path: "/recovery/stop", MCP: "-", Present: true,
			People: true,
			Doc:    "Stop a recovery that root of the machine began. Needs a person present."},
			recoveryAt[StopIn], r.stopRecovery),
	}
}

// Recovery says how a forgotten PIN could be replaced.
func (r *Room) Recovery(ctx context.Context, tenant string) (out RecoveryOut, err error) {
	if out.PIN, err = r.HasPIN(ctx, tenant, WellKnown(Owner)); err != nil {
		return out, err
	}
	out.ByRoot = os.Getuid() > 0 && rootIsKnown
	rows, err := r.db.Query(ctx, "SELECT "+codeColumns+" FROM recovery_code WHERE tenant = ? AND actor = ? AND used_at = 0", tenant,
		WellKnown(Owner))
	codes, err := db.Collect(rows, err, func(rows *sql.Rows) (codeRow, error) { return scanCode(rows) })
	if err != nil {
		return out, err
	}
	for _, c := range codes {
		if r.Vouch.Holds(ctx, c.Seal()) {
			out.Codes++
		}
	}
	x, err := scanRecovery(r.db.QueryRow(ctx, "SELECT "+recoveryColumns+" FROM recovery WHERE tenant = ? AND actor = ? AND ended_at = 0",
		tenant, WellKnown(Owner)))
	if db.NoRows(err) || err == nil && !r.Vouch.Holds(ctx, x.Seal()) {
		return out, nil
	}
	if err == nil {
		out.Pending = x.pending(r.db.Now())
	}
	return out, err
}

func (x recoveryRow) pending(now time.Time) *PendingOut {
	return &PendingOut{x.id, db.Time(x.started), db.Time(x.due), !now.Before(db.Time(x.due))}
}

// makeCodes replaces all codes of an actor.
func (r *Room) makeCodes(ctx context.Context, tx *db.Tx, tenant, actor string) (codes []string, err error) {
	rows, err := tx.Query("UPDATE recovery_code SET used_at = ? WHERE tenant = ? AND actor = ? AND used_at = 0 RETURNING "+codeColumns,
		tx.Now(), tenant, actor)
	old, err := collectSealed(rows, err, scanCode)
	if err != nil {
		return nil, err
	}
	for _, s := range old {
		op.Row(ctx, s)
	}
	for range codeCount {
		code := newCode()
		c := codeRow{tenant: tenant, id: id.New("code"), actor: actor, hash: codeHash(code)}
		if _, err := tx.Exec("INSERT INTO recovery_code (tenant, id, actor, hash, made_at, used_at) VALUES (?, ?, ?, ?, ?, 0)", tenant, c.id,
			actor, c.hash, tx.Now()); err != nil {
			return nil, err
		}
		op.Row(ctx, c.Seal())
		codes = append(codes, code)
	}
	op.Note(ctx, "codes", len(codes))
	return codes, nil
}

// codesLeft counts the codes that nobody used.
func codesLeft(tx *db.Tx, tenant, actor string) (n int, err error) {
	err = tx.QueryRow("SELECT count(*) FROM recovery_code WHERE tenant = ? AND actor = ? AND used_at = 0", tenant, actor).Scan(&n)
	return n, err
}

// putPIN writes a PIN, whoever was allowed to. Where there are no recovery codes it makes them.
func (r *Room) putPIN(ctx context.Context, tx *db.Tx, tenant, actor, pin string) (out PINOut, err error) {
	hash := hashPIN(pin)
	_, err = tx.Exec(`INSERT INTO pin (tenant, actor, hash, set_at, wrong, wait_until, is_long) VALUES (?, ?, ?, ?, 0, 0, ?)
		ON CONFLICT (tenant, actor) DO UPDATE SET hash = excluded.hash, set_at = excluded.set_at, is_long = excluded.is_long`, tenant, actor,
		hash, tx.Now(), isLong(pin))
	if err != nil {
		return out, err
	}
	op.Row(ctx, pinSeal(tenant, actor, hash, tx.Now().UnixMicro()))
	if out.Left, err = codesLeft(tx, tenant, actor); err != nil {
		return out, err
	}
	if out.Left == 0 {
		out.Codes, err = r.makeCodes(ctx, tx, tenant, actor)
		out.Left = len(out.Codes)
	}
	out.OK = err == nil
	return out, err
}

// recoverPIN sets a PIN without the old one: the door found the caller's code right, or knows the caller as root.
func (r *Room) recoverPIN(ctx context.Context, tx *db.Tx, in PINIn) (PINOut, error) {
	if err := CheckPINForm(in.PIN); err != nil {
		return PINOut{}, err
	}
	c, owner := op.CallerFrom(ctx), WellKnown(Owner)
	told := Recovered{Tenant: c.Tenant}
	switch c.Recovers {
	case "":
		return PINOut{}, fault.New(fault.Denied, "recovery.use", "replacing a forgotten PIN takes a recovery code").
			WithNext("type one that was shown when the PIN was set: tandem recover")
	case ByRoot:
		x, err := r.pendingIn(ctx, tx, c.Tenant)
		if err != nil {
			return PINOut{}, err
		}
		if wait := db.Time(x.due).Sub(tx.Now()); wait > 0 || !r.db.Clock().Sure {
			return PINOut{}, fault.New(fault.Denied, "recovery.use", "the recovery counts from %s on", db.Time(x.due).Format(time.RFC3339)).
				WithNext("say it again then; meanwhile a person can stop it")
		}
		told.What = "finished"
	default:
		code, err := scanCode(tx.QueryRow("UPDATE recovery_code SET used_at = ? WHERE tenant = ? AND id = ? AND used_at = 0 RETURNING "+
			codeColumns, tx.Now(), c.Tenant, c.Recovers))
		if db.NoRows(err) {
			return PINOut{}, fault.New(fault.Denied, "recovery.use", "this recovery code was used meanwhile").
				WithNext("type another: tandem recover")
		}
		if err != nil {
			return PINOut{}, err
		}
		op.Row(ctx, code.Seal())
		op.Note(ctx, "code", code.id)
		told.What = "used"
	}
	if err := r.endRecovery(ctx, tx, c.Tenant); err != nil {
		return PINOut{}, err
	}
	if err := clearTries(tx, c.Tenant, owner); err != nil {
		return PINOut{}, err
	}
	out, err := r.putPIN(ctx, tx, c.Tenant, owner, in.PIN)
	if err != nil {
		return out, err
	}
	told.Left = out.Left
	return out, r.tell(tx, told)
}

func (r *Room) tell(tx *db.Tx, told Recovered) error {
	if r.Recovered == nil {
		return nil
	}
	return r.Recovered(tx, told)
}
