package panel

import (
	"cmp"
	"fmt"
	"maps"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/internal/space/peer"

	"tandem/internal/panel/ui"
)

func spacesNav() page {
	return page{id: "spaces", label: "Spaces", href: "/panel/spaces", icon: "spaces", key: "g e", needs: string(peer.SpaceList),
		routes: spaceRoutes}
}

func spaceRoutes(p *Panel) {
	p.get("/panel/spaces", func(v *visit) error { return v.spaces(SpaceView{}) })
	p.get("/panel/spaces/hosted/{id}", func(v *visit) error { return v.hosted(v.r.PathValue("id")) })
	p.get("/panel/spaces/messages", func(v *visit) error { return v.mail("") })
	p.get("/panel/spaces/messages/{id}/attachments/{n}", (*visit).saveAttachment)
	p.get("/panel/spaces/in", (*visit).switchSpace)
	again := func(v *visit, err error) error { return v.spaces(SpaceView{Problem: words(err)}) }
	perform(p, "/panel/spaces", peer.SpaceCreate,
		func(v *visit) (peer.CreateIn, error) { return peer.CreateIn{Name: v.field("name")}, nil },
		func(v *visit, _ peer.CreateIn, made peer.Created) error { return v.lookAtNew(made.Space, "space-made") }, again)
	perform(p, "/panel/spaces/join", peer.SpaceJoin,
		func(v *visit) (peer.JoinIn, error) { return peer.JoinIn{Code: v.field("code")}, nil },
		func(v *visit, _ peer.JoinIn, in peer.Joined) error { return v.lookAtNew(in.Space, "space-joined") }, again)
	form(p, "/panel/spaces/leave", peer.SpaceLeave, "/panel/spaces", "space-left",
		func(v *visit) (peer.Which, error) { return peer.Which{}, nil }, again)
	perform(p, "/panel/spaces/invite", peer.SpaceInvite,
		func(v *visit) (peer.InviteIn, error) { return peer.InviteIn{Link: v.field("link") != ""}, nil },
		func(v *visit, _ peer.InviteIn, made peer.Invited) error {
			return v.spaces(SpaceView{Invite: peersWords(made.Code), InviteEnds: made.Expires})
		}, again)
	form(p, "/panel/spaces/messages", peer.SpaceSend, "/panel/spaces/messages", "message-sent",
		func(v *visit) (peer.SendIn, error) { return sendInput(v), nil },
		func(v *visit, err error) error { return v.mail(words(err)) })
	confirm(p, peer.SpaceRemove, func(id string) peer.RemoveIn { return peer.RemoveIn{Peer: id} }, confirmed{
		path: "/panel/spaces/peers/{id}/remove", title: "Remove this member?",
		text: "It reads nothing that is said from then on. What it read before, it has read.",
		does: "Remove", back: "/panel/spaces", said: "peer-removed", nav: "spaces"})
}

// SeatRow is a place in a space that somebody on this machine holds.
type SeatRow struct {
	Space, Title, Me, State, Host string
	Online, Mine                  bool
}

// PeerRow is a member.
type PeerRow struct {
	ID, Name string
	You      bool
	Keeps    bool // may remove others
	Online   bool
	Seen     time.Time
	Agent    string
	Folder   string
	Servers  string // MCP servers, a list for people
	Tools    string
	Works    []string
}

// SpaceView is the space the visitor sits in, and the seats of this machine.
type SpaceView struct {
	Now        time.Time
	In         bool
	Title, Me  string
	Keeps      bool // the visitor may remove others
	Away       bool
	Health     string
	Phrase     string
	Peers      []PeerRow
	Vars       []VarRow
	Findings   []FindingRow
	Leases     []LeaseRow
	Moments    []ui.Moment
	Seats      []SeatRow
	Hosted     []HostedRow
	Invite     string // a code that was made just now
	InviteEnds time.Time
	Problem    string
	Switch     SpaceSwitch
}

// MailRow is a message.
type MailRow struct {
	ID, Type, From, To, Text string
	File, Snippet            string
	Attached                 []AttachedRow
	Thread                   string // the message that its conversation began with, when it answers
	New                      bool
	At                       time.Time
	Far                      []string // of the visitor's own: how far it came with each
}

// AttachedRow is an attachment of a message, and where to save it.
type AttachedRow struct {
	Name, Sum, Href string
	Size            int64
}

// MailView is the messages of the visitor's own seat, opened on this machine.
type MailView struct {
	Now     time.Time
	Title   string
	Rows    []MailRow
	Waiting []string // own messages that the host has not stored
	Peers   []string
	Away    bool
	Words   string // what is searched for
	Thread  string // the conversation that is shown
	Reply   string // the message that is answered
	Problem string
	Switch  SpaceSwitch
}

func (v *visit) seats() ([]SeatRow, error) {
	list, err := ask(v, peer.SpaceList, peer.Nothing{})
	var out []SeatRow
	for _, s := range list.Seats {
		out = append(out, SeatRow{Space: s.Space, Title: peersWords(s.Title), Me: peersWords(s.Username), State: s.State, Host: s.Host,
			Online: s.Online, Mine: s.Yours})
	}
	return out, err
}

// peerNames are the other members.
func (v *visit) peerNames() ([]string, error) {
	peers, err := ask(v, peer.SpacePeers, peer.Which{})
	var out []string
	for _, p := range peers.Peers {
		if !p.You {
			out = append(out, peersWords(p.Username))
		}
	}
	return out, err
}

const activityShown = 60

func (v *visit) spaces(out SpaceView) error {
	out.Now = v.now()
	var err error
	if out.Seats, err = v.seats(); err != nil {
		return err
	}
	if out.Hosted, err = v.hostedRows(); err != nil {
		return err
	}
	peers, err := ask(v, peer.SpacePeers, peer.Which{})
	switch {
	case err == nil:
		out.In, out.Health = true, peersWords(peers.Health)
	case seated(err):
		return err
	case out.Problem == "" && putOut(err):
		out.Problem = words(err)
	}
	for _, p := range peers.Peers {
		seen, _ := time.Parse(time.RFC3339, p.SeenAt) // a member that was never seen has none
		row := PeerRow{ID: p.ID, Name: peersWords(p.Username), You: p.You, Keeps: p.Keeps, Online: p.Online, Seen: seen,
			Folder: peersWords(p.Profile.Folder)}
		row.Agent = strings.TrimSpace(peersWords(p.Profile.Agent + " " + p.Profile.Model))
		row.Servers, row.Tools = peersWords(strings.Join(p.Profile.Servers, ", ")), peersWords(strings.Join(p.Profile.Tools, ", "))
		for _, w := range p.WorkingOn {
			row.Works = append(row.Works, peersWords(w))
		}
		if p.You {
			out.Me, out.Keeps = row.Name, p.Keeps
		}
		out.Peers = append(out.Peers, row)
	}
	if out.In {
		if err := v.spaceDetails(&out); err != nil {
			return err
		}
	}
	s := v.shell("spaces", "Spaces")
	s.Here = out.Switch.about("/panel/spaces", url.Values{})
	if out.Invite != "" {
		s.Here = "" // a code is shown once
	}
	return v.show(spacesPage(s, out))
}

func (v *visit) spaceDetails(out *SpaceView) error {
	seat, err := v.mySeat()
	if err != nil {
		return err
	}
	out.Title, out.Away = seat.Title, seat.Host != "this machine"
	if out.Switch, err = v.spaceSwitch("spaces"); err != nil {
		return err
	}
	phrase, err := ask(v, peer.SpacePhrase, peer.Which{})
	if err != nil {
		return err
	}
	out.Phrase, _, _ = strings.Cut(phrase.Text, "\n")
	log, err := ask(v, peer.SpaceActivity, peer.ActivityIn{Limit: activityShown})
	if err != nil {
		return err
	}
	for _, e := range log.Entries {
		at, _ := time.Parse(time.RFC3339, e.At) // written by our own daemon
		out.Moments = append(out.Moments, ui.Moment{Tone: ui.Quiet, Icon: "dot", Who: peersWords(e.Actor), Title: peersWords(e.Action),
			Detail: peersWords(ui.Short(e.Detail, 200)), At: at})
	}
	slices.Reverse(out.Moments)
	return v.spaceThings(out)
}

// mail shows the newest messages, or those that are searched for. To look is to
// read: the senders are told.
func (v *visit) mail(problem string) error {
	seat, err := v.mySeat()
	if err != nil {
		return err
	}
	in, err := ask(v, peer.SpaceInbox, peer.InboxIn{All: true, Limit: 100, Text: v.query("q"), Thread: v.query("thread")})
	if err != nil {
		return err
	}
	out := MailView{Now: v.now(), Title: seat.Title, Problem: problem, Away: seat.Host != "this machine", Words: v.query("q"),
		Thread: v.query("thread"), Reply: cmp.Or(v.r.PostFormValue("reply_to"), v.query("reply"))}
	for _, m := range in.Messages {
		at, _ := time.Parse(time.RFC3339, m.At) // written by our own daemon
		row := MailRow{ID: m.ID, Type: peersWords(m.Type), From: peersWords(m.From), To: peersWords(m.To), Text: peersWords(m.Text), New: !m.Read,
			At: at, Thread: m.Thread}
		for _, name := range slices.Sorted(maps.Keys(m.Peers)) {
			row.Far = append(row.Far, peersWords(name)+": "+m.Peers[name])
		}
		if m.Ref != nil {
			row.File, row.Snippet = peersWords(m.Ref.File), peersWords(m.Ref.Snippet)
		}
		for n, a := range m.Attachments {
			row.Attached = append(row.Attached, AttachedRow{Name: peersWords(a.Name), Size: a.Size, Sum: a.Sum,
				Href: "/panel/spaces/messages/" + pathEscape(m.ID) + "/attachments/" + strconv.Itoa(n+1)})
		}
		out.Rows = append(out.Rows, row)
	}
	for _, w := range in.Waiting {
		out.Waiting = append(out.Waiting, w.ID+" is "+w.State+" "+peersWords(w.Why))
	}
	if out.Peers, err = v.peerNames(); err != nil {
		return err
	}
	if out.Switch, err = v.spaceSwitch("messages"); err != nil {
		return err
	}
	for _, row := range out.Rows {
		for n, a := range row.Attached {
			row.Attached[n].Href = out.Switch.about(a.Href, url.Values{})
		}
	}
	s := v.shell("spaces", "Messages")
	s.Here = out.href("q", out.Words, "thread", out.Thread)
	s.Back = &ui.Crumb{Label: "Spaces", Href: "/panel/spaces"}
	return v.show(mailPage(s, out))
}

// href is the page with some of its queries, in the space that it shows.
func (v MailView) href(pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return v.Switch.about("/panel/spaces/messages", q)
}

// saveAttachment gives the browser an attachment to save: as bytes, never as a page.
func (v *visit) saveAttachment() error {
	n, err := strconv.Atoi(v.r.PathValue("n"))
	if err != nil {
		return noSuchPage
	}
	got, err := ask(v, peer.SpaceAttachment, peer.AttachmentIn{ID: v.r.PathValue("id"), N: n})
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/octet-stream")
	v.w.Header().Set("X-Content-Type-Options", "nosniff")
	v.w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": peersWords(got.Name)}))
	_, err = v.w.Write(got.Data)
	return err
}

// bytesFor is a size for people.
func bytesFor(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// sendInput is a message: an answer goes to those whom it answers unless somebody was chosen.
func sendInput(v *visit) peer.SendIn {
	return peer.SendIn{Message: v.field("message"), Type: v.field("type"), ReplyTo: v.field("reply_to"),
		To: strings.Join(v.r.PostForm["to"], ",")}
}
