package panel

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/a-h/templ"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/inbox/wire"
	"tandem/internal/op"
	"tandem/internal/panel/ui"
	server "tandem/internal/server/wire"
)

// visit is one request by somebody who is signed in.
type visit struct {
	p      *Panel
	w      http.ResponseWriter
	r      *http.Request
	ctx    context.Context
	caller op.Caller
	from   Place // what happened before this is in the page

	inboxRead *wire.Out // once it was
	sitsIn    []SeatRow // once they were read
	status    *server.Status

	unproven string // why a proof of presence did not hold

	keyless bool   // the browser signed in before it had a key
	shows   string // the key that such a browser shows
}

var noSuchPage = fault.New(fault.NotFound, "panel", "Either it never existed, or it does not exist for you.")

// ask runs an operation for the visitor by its handle, as any client would: the panel has no other way to a room.
func ask[In, Out any](v *visit, d op.Def[In, Out], in In) (Out, error) {
	return op.Do(v.ctx, v.p.Gate, d, placed(v, in))
}

// has reports whether an operation exists for the visitor, once they have shown that they are here where it needs that. It decides what
// is offered, and nothing else.
func (v *visit) has(name string) bool {
	c := v.caller
	c.Present = "pin"
	o := v.p.Gate.Table().Get(name)
	return o != nil && v.p.Gate.May(op.WithCaller(v.ctx, c), o)
}

// render writes a page, whole or not at all.
func (v *visit) render(status int, page templ.Component) {
	var b bytes.Buffer
	if err := page.Render(v.ctx, &b); err != nil {
		v.p.Log.Error("page not rendered", "path", v.r.URL.Path, "err", err)
		http.Error(v.w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(status)
	v.w.Write(b.Bytes())
}

func (v *visit) show(page templ.Component) error {
	v.render(http.StatusOK, page)
	return nil
}

// fail shows an error in words, with what to do next.
func (v *visit) fail(err error) {
	f := fault.Public(err)
	if f.Kind == fault.Internal {
		v.p.Log.Error("page failed", "path", v.r.URL.Path, "request", v.caller.Request, "err", err)
	}
	title := map[fault.Kind]string{
		fault.NotFound: "There is no such page", fault.Denied: "You may not see this", fault.Invalid: "That is not understood",
		fault.Unavailable: "That does not work right now", fault.Pending: "This waits for an approval",
	}[f.Kind]
	if title == "" {
		title = "Something went wrong"
	}
	v.render(f.Kind.Status(), errorPage(ErrorView{Status: f.Kind.Status(), Title: title, Message: f.Msg, Next: f.Next,
		Request: v.caller.Request}))
}

// go303 sends the browser to a page after a change, with a word about it.
func (v *visit) go303(to, said string) error {
	if said != "" {
		sep := "?"
		if bytes.ContainsRune([]byte(to), '?') {
			sep = "&"
		}
		to += sep + "said=" + said
	}
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
}

// said are the words a page can be opened with. They are chosen by name, so
// that a link cannot put words into the panel's mouth.
var said = map[string]string{
	"approve": "Approved. It may run once.", "always": "Approved, and calls like it pass from now on.", "rework": "Sent back.",
	"cancel":   "Cancelled.",
	"answered": "The agent has your answer.", "resumed": "The program is started again.",
	"terminal-taken": "You have the terminal.", "terminal-back": "The terminal is given back.", "terminal-closed": "The session is closed.",
	"relay-started": "The relay is on its way.", "relay-queued": "The relay has it.", "relay-told": "The lead hears it with its next turn.",
	"relay-stopped": "The relay is stopped.",
	"job-started":   "The job is on its way.", "job-checked": "It is checked again.", "job-resumed": "It goes on.",
	"job-told": "Its agent hears it with its next turn.", "job-stopped": "The job is stopped.",
	"job-viewed":   "Noted. Later you can see what came since.",
	"job-reviewed": "Another agent looks at it.",
	"job-said":     "Said. Its agent hears it when you send the job back.", "job-merged": "Merged.",
	"job-remade":   "Not merged: its branch moved on. Look at where the job stands.",
	"job-aside":    "Merged, and its branch was not moved. Its page says what to type.",
	"team-started": "Its lead makes a plan.", "team-approved": "Approved. Its tasks are begun.", "team-paused": "The team is paused.",
	"team-resumed": "The team goes on.", "team-stopped": "The team is stopped. What was merged stays.",
	"team-added": "The plan has it.", "team-replaced": "Another agent goes on with it, in the same files.",
	"job-queued": "It is merged when its turn comes.", "job-pulled": "The forge was asked.",
	"job-evicted":       "It is out of the queue, and in review.",
	"automation-stored": "Stored, switched off. Look at what it may do.", "automation-on": "It is switched on.",
	"automation-drafted": "Drafted and stored, switched off. Look at what it may do.",
	"pack-installed":     "Installed. Its automations are on.", "pack-gone": "The pack is removed.",
	"pack-stays": "The pack is removed. Something of it stays, switched off: look at the automations.", "run-handed": "It is handed over.",
	"automation-off": "It is switched off, and its open runs are paused.", "automation-gone": "The automation is removed.",
	"run-begun": "It begins.", "run-pause": "Nothing new is begun.", "run-resume": "It goes on.", "run-cancel": "The run is cancelled.",
	"run-mended": "The run goes on.", "run-still-paused": "Mended. The run is still paused: let it go on.",
	"invite-gone": "Nobody joins with it any more.", "owner-added": "They are an owner now.",
	"group-changed": "The group is changed.", "group-gone": "The group is gone.",
	"owner-gone": "They are no owner any more.", "owner-handed": "Your ownership is theirs now.",
	"tenant-suspended": "Nothing of it passes any more.", "tenant-resumed": "It is open again.",
	"tenant-erased":  "It is being erased. When it is not listed any more, it is gone.",
	"tenant-limited": "Its limits are set.",
	"person-gone":    "Removed. What they were logged in with has ended.",
	"device-gone":    "The machine proves nothing any more.",
	"memory-added":   "Remembered.", "memory-edited": "Mended. The earlier version is in its history.", "memory-live": "It is live.",
	"memory-back":  "It was taken back.",
	"source-bound": "Bound, and paused. Resume it to import it.", "source-on": "It is imported.",
	"source-due": "What changed is imported.", "source-paused": "Nothing more is imported. What came from it is still found.",
	"source-held": "Nobody finds what came from it.", "source-gone": "Nobody finds what came from it any more, and it is deleted.",
	"knowledge-made": "Made. Add what it should know.", "knowledge-added": "Added. It answers nobody until an owner promotes it.",
	"knowledge-promoted": "It answers.", "knowledge-deprecated": "It answers nobody any more.", "knowledge-gone": "The item is deleted.",
	"knowledge-closed": "The knowledge space is deleted.",
	"queue-pushed":     "It was pushed.",
	"queue-protected":  "The branch is protected.", "queue-open": "The branch is no longer protected.",
	"queue-on": "The queue goes on.", "queue-paused": "The queue is paused.",
	"turn-stopped": "Told to stop.", "provider-key": "The key is stored, sealed.", "provider-default": "New sessions use this model.",
	"provider-added": "The provider was added.",
	"provider-gone":  "The provider is forgotten.", "phone-set": "The phone is told. Its first notice was sent.",
	"folder-granted": "Sessions may work in this folder.",
	"folder-gone":    "The folder is taken back.",
	"task-edited":    "The task was changed.", "task-commented": "Said.", "task-archived": "It is in the archive, or back from there.",
	"task-added": "The task is on the board.", "task-moved": "The task was moved.", "task-handed": "The task was handed over.",
	"space-made": "The space is open.", "space-joined": "You are in the space.",
	"space-left": "You left the space.", "message-sent": "Sent.", "peer-removed": "The member was removed.",
	"connector-added": "The connector was added. Look at what it offers, then accept it.", "connector-looked": "Looked at.",
	"connector-accepted": "Accepted. Sessions can use it.",
	"connector-secret":   "The secret is stored, sealed.", "connector-out": "Signed out.",
	"connector-changed": "Changed; the next call obeys it.", "connector-gone": "The connector is removed.",
	"rule-gone": "Ended. The next call asks again.", "search-set": "Stored. It counts from the next search on.",
	"search-key": "Sealed. It counts from the next search on.",
	"aside-kept": "Kept. It is back where it was.", "aside-discarded": "Discarded.",
	"put": "The key was stored.", "deleted": "The key was deleted.",
	"passkey": "The passkey is registered.", "passkey-gone": "The passkey is forgotten.", "browser-gone": "The browser is signed out.",
	"recovery-stopped": "The PIN stays what it is.",
	"revoked":          "The token is revoked.", "disabled": "The actor is disabled.", "added": "The actor was added.", "granted": "Granted.",
	"grant-gone": "The grant is revoked.",
}

// shell is what surrounds a page.
func (v *visit) shell(id, title string) ui.Shell {
	s := ui.Shell{Title: title, Here: v.here(), Person: v.caller.Name, Host: v.p.Machine, Build: v.p.Version, From: v.from.String(),
		Said: said[v.r.URL.Query().Get("said")], Unproven: v.unproven}
	asks := 0
	if waits, err := v.waiting(); err == nil {
		s.Alert, asks = waits.Count, asksIn(waits)
	}
	s.Nav = v.nav(id, map[string]int{"overview": s.Alert, "approvals": asks})
	return s
}

// here is the page's own address, without the word about what was done. An
// answer to a form has none: reading it again would be another page.
func (v *visit) here() string {
	if v.r.Method != http.MethodGet {
		return ""
	}
	u := *v.r.URL
	q := u.Query()
	q.Del("said")
	u.RawQuery = q.Encode()
	return u.RequestURI()
}

// refilled is what was posted to a form that was refused, to be in it again; nothing for any other form.
func (v *visit) refilled(action string) url.Values {
	if v.r.Method != http.MethodPost || v.r.URL.Path != action {
		return nil
	}
	return v.r.PostForm
}

// site is the panel's address in this browser.
func (v *visit) site() identity.Site { return identity.SiteFrom(v.ctx) }

func (v *visit) now() time.Time { return v.p.Now() }

func (v *visit) query(name string) string { return v.r.URL.Query().Get(name) }
