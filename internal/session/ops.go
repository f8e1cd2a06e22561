package session

import (
	"context"

	"tandem/internal/op"
	"tandem/internal/provider"
)

// CreateIn opens a session.
type CreateIn struct {
	Title     string `json:"title,omitempty"`
	Directory string `json:"directory,omitempty" jsonschema:"the working folder, absolute; it should lie in a granted one"`
	Model     string `json:"model,omitempty" jsonschema:"provider/model; the default of the settings when left out"`
	Mode      Mode   `json:"mode,omitempty" jsonschema:"immediate or plan"`
	Parent    string `json:"parent,omitempty"`
	Config    Config `json:"config,omitzero"`
}

// IDIn names a session.
type IDIn struct {
	ID string `json:"id" jsonschema:"the session's id, ses_…"`
}

// ListIn asks for a page of sessions.
type ListIn struct {
	Query    string `json:"q,omitempty" jsonschema:"only titles and texts that hold this"`
	Title    string `json:"title,omitempty" jsonschema:"only those that are called exactly this"`
	Archived bool   `json:"archived,omitempty" jsonschema:"the archived ones instead of the others"`
	Parent   string `json:"parent,omitempty" jsonschema:"only children of this session"`
	Before   string `json:"before,omitempty" jsonschema:"only sessions made before this one: the last of the page before"`
	Limit    int    `json:"limit,omitempty" jsonschema:"at most this many, 50 when left out, 500 at most"`
}

// ListOut is a page of sessions, newest first.
type ListOut struct {
	Sessions []*Session `json:"sessions"`
	More     bool       `json:"more,omitempty"`
}

// UpdateIn changes a session; what is left out stays.
type UpdateIn struct {
	ID        string  `json:"id"`
	Title     *string `json:"title,omitempty"`
	Archived  *bool   `json:"archived,omitempty"`
	Directory *string `json:"directory,omitempty"`
	Model     *string `json:"model,omitempty"`
	Mode      *Mode   `json:"mode,omitempty"`
	Config    *Config `json:"config,omitempty"`
}

// PromptIn gives a session something to do.
type PromptIn struct {
	ID      string           `json:"id"`
	Text    string           `json:"text,omitempty" jsonschema:"what to do"`
	Images  []provider.Image `json:"images,omitempty"`
	Options Options          `json:"options,omitzero"`
}

// MessagesOut is a conversation.
type MessagesOut struct {
	Messages []*Message `json:"messages"`
}

// TurnIn names a turn.
type TurnIn struct {
	ID   string `json:"id" jsonschema:"the session's id"`
	Turn string `json:"turn,omitempty" jsonschema:"the turn's id; the open ones when left out"`
}

// TurnsOut lists turns with their calls.
type TurnsOut struct {
	Turns []*Turn `json:"turns"`
	Calls []*Call `json:"calls,omitempty"`
}

// CancelOut says how many turns were told to stop.
type CancelOut struct {
	OK        bool `json:"ok"`
	Cancelled int  `json:"cancelled"`
}

// ForkIn copies a session.
type ForkIn struct {
	ID      string `json:"id"`
	Message string `json:"message,omitempty" jsonschema:"up to this message, without it; the whole conversation when left out"`
	Title   string `json:"title,omitempty"`
}

// EventsIn asks for stored events.
type EventsIn struct {
	ID    string `json:"id"`
	After int64  `json:"after,omitempty" jsonschema:"only events behind this number"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most this many, 200 when left out, 1000 at most"`
}

// EventsOut is a page of events.
type EventsOut struct {
	Events []Event `json:"events"`
	Last   int64   `json:"last" jsonschema:"the number of the session's newest event"`
}

// FollowIn follows a session.
type FollowIn struct {
	ID   string `json:"id"`
	From string `json:"from,omitempty" jsonschema:"a place, seq or seq.offset; the beginning when left out"`
}

func one(in IDIn) op.Resource { return at(in.ID) }

// Ops is this room's front door.
func (r *Room) Ops() []op.Op {
	ops := []op.Op{
		op.Binding(SessionCreate.State(op.Spec{Spare: true, Right: "session.create", Method: "POST", Path: "/sessions",
			Doc: "Open a session: an agent at work, driven by a model."},
			func(CreateIn) op.Resource { return at("") }, r.create),
			func(ctx context.Context, in CreateIn) ([]op.Bound, error) { return r.Models.Bind(ctx, in.Model) }),
		SessionList.Read(op.Spec{Spare: true, Right: "session.list", Masked: true, Method: "GET", Path: "/sessions",
			Doc: "List sessions, newest first, or search them."},
			func(ListIn) op.Resource { return at("") }, r.list),
		SessionGet.Read(op.Spec{Right: "session.read", Method: "GET", Path: "/sessions/{id}", Doc: "Read one session."}, one, r.get),
		op.Binding(SessionUpdate.State(op.Spec{Right: "session.write", Method: "PATCH", Path: "/sessions/{id}",
			Doc: "Rename, archive or reconfigure a session."},
			func(in UpdateIn) op.Resource { return at(in.ID) }, r.update), r.bindUpdate),
		SessionDelete.State(op.Spec{Right: "session.delete", Method: "DELETE", Path: "/sessions/{id}", MCP: "-",
			Doc: "Delete a session with its messages and events. What it did stays in the journal."}, one, r.delete),
		SessionFork.State(op.Spec{Right: "session.create", Method: "POST", Path: "/sessions/{id}/fork",
			Doc: "Copy a session, whole or up to a message."},
			func(in ForkIn) op.Resource { return at(in.ID) }, r.fork),
		SessionMessages.Read(op.Spec{Right: "session.read", Method: "GET", Path: "/sessions/{id}/messages",
			Doc: "Read a session's conversation."}, one, r.messagesOp),
		op.Binding(SessionPrompt.State(op.Spec{Right: "session.prompt", Method: "POST", Path: "/sessions/{id}/prompt",
			Doc: "Give a session something to do. The turn is queued, and runs when those before it have ended."},
			func(in PromptIn) op.Resource { return at(in.ID) }, r.promptOp), r.bindPrompt),
		SessionCancel.State(op.Spec{Right: "session.prompt", Method: "POST", Path: "/sessions/{id}/cancel",
			Doc: "Stop a turn, or all open turns of a session."},
			func(in TurnIn) op.Resource { return at(in.ID) }, r.cancel),
		SessionTurns.Read(op.Spec{Right: "session.read", Method: "GET", Path: "/sessions/{id}/turns",
			Doc: "List a session's turns and the calls of the newest, or one turn."},
			func(in TurnIn) op.Resource { return at(in.ID) }, r.turnsOp),
		SessionEvents.Read(op.Spec{Right: "session.read", Method: "GET", Path: "/sessions/{id}/events", MCP: "-",
			Doc: "Read a session's stored events, page by page."},
			func(in EventsIn) op.Resource { return at(in.ID) }, r.eventsOp),
		SessionFollow.Stream(op.Spec{Right: "session.watch", Method: "GET", Path: "/sessions/{id}/stream",
			Doc: "Follow a session's events and streaming text, from any place on."},
			func(in FollowIn) op.Resource { return at(in.ID) },
			func(ctx context.Context, in FollowIn) error {
				if _, err := ParsePlace(in.From); err != nil {
					return err
				}
				_, err := r.Get(ctx, op.CallerFrom(ctx).Tenant, in.ID)
				return err
			}),
	}
	ops = append(ops, r.folderOps()...)
	ops = append(ops, r.confineOps()...)
	ops = append(ops, r.checkoutOps()...)
	ops = append(ops, r.questionOps()...)
	ops = append(ops, r.revertOps()...)
	ops = append(ops, r.readOps()...)
	ops = append(ops, r.Budgets.Ops()...)
	ops = append(ops, r.Aside.Ops()...)
	return append(ops, r.toolOps()...)
}
