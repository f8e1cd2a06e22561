package journal

import (
	"context"
	"strconv"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// LogIn asks for entries.
type LogIn struct {
	Type     string    `json:"type,omitempty" jsonschema:"only events of this type; resource.* means all of a noun"`
	Phase    string    `json:"phase,omitempty" jsonschema:"only events of this phase: done, intent, outcome, denied, asked or unknown"`
	Actor    string    `json:"actor,omitempty" jsonschema:"only events of this actor, by name"`
	Resource string    `json:"resource,omitempty" jsonschema:"only events about this resource and what lies below it, e.g. resource:/lock"`
	Request  string    `json:"request,omitempty" jsonschema:"only events of this request, by id"`
	Text     string    `json:"text,omitempty" jsonschema:"only events that show all these words, in any of their fields"`
	Since    time.Time `json:"since,omitzero" jsonschema:"only events from this time on"`
	After    int64     `json:"after,omitempty" jsonschema:"only events behind this sequence number"`
	Before   int64     `json:"before,omitempty" jsonschema:"with newest: only events before this sequence number"`
	Newest   bool      `json:"newest,omitempty" jsonschema:"begin with the newest and go backwards"`
	Limit    int       `json:"limit,omitempty" jsonschema:"at most this many, 100 unless told, 1000 at most"`
}

// LogOut is a page of entries.
type LogOut struct {
	Entries []Entry `json:"entries"`
	More    bool    `json:"more,omitempty"`
	At      int64   `json:"at,omitempty" jsonschema:"with more: the last sequence number that was looked at; go on from there"`
	Head    int64   `json:"head" jsonschema:"sequence number of the journal's newest event"`
}

// EventsIn says from where a stream of events begins.
type EventsIn struct {
	Since *int64 `json:"since_seq,omitempty" jsonschema:"replay what came behind this sequence number; only what is new when left out"`
	Type  string `json:"type,omitempty" jsonschema:"only events of this type; resource.* means all of a noun"`
}

// SeqIn names an entry.
type SeqIn struct {
	Seq int64 `json:"seq" jsonschema:"the event's sequence number"`
}

// VerifyIn brings what the journal is held against.
type VerifyIn struct {
	Whole   bool     `json:"whole,omitempty" jsonschema:"read every entry, also those that an earlier check found nothing in"`
	Anchors []string `json:"anchors,omitempty" jsonschema:"signed checkpoints that were kept elsewhere"`
}

// ExportIn asks for one page of an export.
type ExportIn struct {
	After int64 `json:"after,omitempty" jsonschema:"next of the page before"`
	Size  int64 `json:"size,omitempty" jsonschema:"size of the page before"`
	Limit int   `json:"limit,omitempty" jsonschema:"entries a page, 1000 at most"`

	Former int64 `json:"former,omitempty" jsonschema:"a journal that this tenant had on another server, the first of them 1"`
}

// Check refuses what is before the first.
func (in ExportIn) Check() error {
	if in.Former < 0 || in.Former > 0 && in.After < 0 {
		return fault.New(fault.Invalid, string(AuditExport), "the first journal elsewhere is 1, and its first page comes after 0")
	}
	return nil
}

// ForgetIn says which payloads are deleted.
type ForgetIn struct {
	Before time.Time `json:"before" jsonschema:"payloads of events before this time"`
}

// ForgetOut counts them.
type ForgetOut struct {
	Forgotten int64 `json:"forgotten"`
}

// TileIn names a part of the tree.
type TileIn struct {
	Path string `json:"path" jsonschema:"checkpoint, tile/LEVEL/N or tile/entries/N as C2SP tlog-tiles writes them"`
}

func whole[T any](T) op.Resource { return op.Resource{Kind: "journal", Path: "/"} }

func one(in SeqIn) op.Resource {
	return op.Resource{Kind: "journal", Path: "/" + strconv.FormatInt(in.Seq, 10)}
}

// Ops is the journal's front door. Its verbs are named after what people do
// with it: they audit.
func (j *Journal) Ops() []op.Op {
	return append(j.adoptOps(), []op.Op{
		AuditLog.Read(op.Spec{Right: "journal.read", Method: "GET", Path: "/audit",
			Doc: "List events of the journal: who did what to which resource, when, on whose behalf.\nEvents about resources that the caller " +
				"may not see are left out."},
			whole[LogIn], j.log),
		AuditShow.Read(op.Spec{Right: "journal.read", Method: "GET", Path: "/audit/{seq}",
			Doc: "Show one event of the journal with its payload."}, one, j.show),
		AuditProve.Read(op.Spec{Right: "journal.read", Method: "GET", Path: "/audit/{seq}/receipt",
			Doc: "Make a receipt of one event: a signed proof that anybody checks with the public key alone."}, one, j.prove),
		AuditVerify.Read(op.Spec{Right: "journal.read", Method: "POST", Path: "/audit/verify",
			Doc: "Check the journal: every entry, payload, tile, checkpoint and receipt since the last check that found nothing; " +
				"all of them on request, and where anchors are brought.\nSays what it can and cannot exclude; " +
				"anchors kept elsewhere let it exclude more."},
			whole[VerifyIn], j.verifyOp),
		AuditAnchor.Read(op.Spec{Right: "journal.read", Method: "POST", Path: "/audit/anchor",
			Doc: "Sign the journal as it stands. The signed checkpoint, kept elsewhere, proves later that nothing before it was changed."},
			whole[struct{}], func(ctx context.Context, _ struct{}) (*Anchor, error) { return j.Anchor(ctx) }),
		AuditExport.Read(op.Spec{Right: "journal.export", Method: "GET", Path: "/audit/export", Present: true, People: true,
			MCP: "-",
			Doc: "Export the journal page by page as NDJSON lines that verify offline.\nNeeds a person present: it holds every payload."},
			whole[ExportIn], func(ctx context.Context, in ExportIn) (*Page, error) {
				if in.Former > 0 {
					return j.former(ctx, op.CallerFrom(ctx).Tenant, in.Former, in.After)
				}
				return j.Export(ctx, op.CallerFrom(ctx).Tenant, in.After, in.Size, in.Limit)
			}),
		AuditForget.State(op.Spec{Right: "journal.admin", Method: "POST", Path: "/audit/forget", Present: true, People: true,
			MCP: "-",
			Doc: "Delete the payloads of old events. The events, their order and every proof stay."},
			whole[ForgetIn], j.forget),
		op.Stream(op.Spec{Name: "audit.tile", Right: "journal.read", Method: "GET", Path: "/tlog/{path...}",
			Doc: "Serve the journal's tree in the form of C2SP tlog-tiles: checkpoint, tiles and entry bundles.\nEntries are records of salted " +
				"hashes; names and payloads cannot be read from them."},
			whole[TileIn], nil),
	}...)
}

func (j *Journal) verifyOp(ctx context.Context, in VerifyIn) (*Report, error) {
	if in.Whole || len(in.Anchors) > 0 {
		return j.Verify(ctx, in.Anchors)
	}
	return j.VerifyNew(ctx)
}

// Visible reports whether the caller of ctx may see an entry: one whose
// resource they may not see does not exist for them.
func (e *Entry) Visible(ctx context.Context) bool {
	kind, path, ok := strings.Cut(e.Resource, ":")
	return !ok || op.May(ctx, kind+".view", op.Resource{Kind: kind, Path: path})
}

func (j *Journal) show(ctx context.Context, in SeqIn) (*Entry, error) {
	e, err := j.Get(ctx, op.CallerFrom(ctx).Tenant, in.Seq)
	if err == nil && !e.Visible(ctx) {
		return nil, missing("audit.show", in.Seq)
	}
	return e, err
}

func (j *Journal) prove(ctx context.Context, in SeqIn) (*Receipt, error) {
	if _, err := j.show(ctx, in); err != nil {
		return nil, err
	}
	return j.Prove(ctx, op.CallerFrom(ctx).Tenant, in.Seq)
}

func (j *Journal) forget(ctx context.Context, tx *db.Tx, in ForgetIn) (ForgetOut, error) {
	if in.Before.IsZero() || in.Before.After(tx.Now()) {
		return ForgetOut{}, fault.New(fault.Invalid, "audit.forget", "before is a time in the past")
	}
	n, err := Forget(tx, op.CallerFrom(ctx).Tenant, in.Before)
	op.Note(ctx, "forgotten", n)
	if j.Forgot != nil && n > 0 {
		tx.AfterCommit(j.Forgot)
	}
	return ForgetOut{n}, err
}

func missing(where string, seq int64) error {
	return fault.New(fault.NotFound, where, "there is no event %d", seq).WithNext("list what there is: tandem audit log")
}
