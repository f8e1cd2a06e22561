package peer

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/httpapi"
	"tandem/internal/op"
	"tandem/internal/space"
	"tandem/internal/space/seal"
	"tandem/internal/testenv"
)

// machine is a house with a TLS listener: what another machine reaches.
type machine struct {
	*house
	addr string
	pin  string
	pair tls.Certificate
	srv  *http.Server
	tape *tape
}

// tape keeps every byte of every request and answer, as the host's own HTTP
// stack sees them behind TLS.
type tape struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (t *tape) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "cut", http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, r)
		t.mu.Lock()
		fmt.Fprintf(&t.all, "%s %s %v\n%s\n%s\n", r.Method, r.URL, r.Header, body, rec.Body.Bytes())
		t.mu.Unlock()
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(rec.Code)
		w.Write(rec.Body.Bytes())
	})
}

// joined is the token of a machine that joined another as a server.
const joined = "let-me-in"

func newMachine(t *testing.T) *machine {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tandem"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{pin: client.Fingerprint(cert), pair: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.addr = l.Addr().String()
	m.house = &house{t: t, dir: t.TempDir(), addr: func() (string, string) { return m.addr, m.pin }}
	m.house.start()
	m.listen(l)
	t.Cleanup(func() { m.unplug(); m.house.stop() })
	return m
}

func (m *machine) listen(l net.Listener) {
	m.t.Helper()
	if l == nil {
		var err error
		if !testenv.Within(time.Second, func() bool { l, err = net.Listen("tcp", m.addr); return err == nil }) { // it may linger for a moment
			m.t.Fatal(err)
		}
	}
	web := &httpapi.Server{Gate: m.gate, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: time.Now}
	h := web.Handler(func(r *http.Request) (op.Caller, error) {
		if r.Header.Get("Authorization") == "Bearer "+joined {
			return op.Caller{Tenant: "local", Actor: "act_newcomer", Name: "newcomer", Kind: op.Agent, Door: op.DoorHTTP, Request: "r"}, nil
		}
		return op.Caller{}, nil
	}, nil)
	if m.tape != nil {
		h = m.tape.record(h)
	}
	m.srv = &http.Server{Handler: h}
	go m.srv.Serve(tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{m.pair}, MinVersion: tls.VersionTLS13}))
}

// unplug makes the machine unreachable.
func (m *machine) unplug() {
	if m.srv != nil {
		m.srv.Close()
		m.srv = nil
	}
}

// again stops the machine's daemon and starts it.
func (m *machine) again() {
	m.t.Helper()
	m.unplug()
	m.restart()
	m.listen(nil)
}

// person is the machine's owner, present.
func (m *machine) person() context.Context {
	return op.WithCaller(m.t.Context(), op.Caller{Tenant: "local", Actor: "act_owner", Name: "owner", Kind: op.Person, Present: "pin",
		Door: op.DoorSocket, Request: "r"})
}

// lost waits until a member here has noticed that the host is gone.
func (m *machine) lost(who string) {
	m.t.Helper()
	eventually(m.t, "the loss being noticed by "+who, func() bool {
		return strings.Contains(do[Peers](m.house, who, "space.peers", nil).Health, "cannot be reached")
	})
}

// takeOver makes the machine the host in place of one that a member here lost.
func (m *machine) takeOver(who string) {
	m.t.Helper()
	m.lost(who)
	if _, err := m.gate.Invoke(m.person(), "space.take_over", nil); err != nil {
		m.t.Fatal(err)
	}
}

func far(t *testing.T) (a, b *machine) {
	a, b = newMachine(t), newMachine(t)
	do[Who](a.house, "ann", "space.rename", RenameIn{Name: "ann"})
	do[Who](b.house, "bob", "space.rename", RenameIn{Name: "bob"})
	c := do[Created](a.house, "ann", "space.create", CreateIn{Name: "far"})
	if !strings.HasSuffix(c.Code, "@"+a.addr) {
		t.Fatalf("the code does not name the host: %s", c.Code)
	}
	j := do[Joined](b.house, "bob", "space.join", JoinIn{Code: c.Code})
	a.contains(j.Text, `Connected to "far" as bob!`, "Peers online: ann")
	return a, b
}

func TestTwoMachines(t *testing.T) {
	a, b := far(t)
	do[Said](a.house, "ann", "space.send", SendIn{Type: "chat", Message: "over the wire", To: "bob"})
	a.contains(do[Inbox](b.house, "bob", "space.inbox", InboxIn{}).Text, "over the wire")
	task := do[Tasked](b.house, "bob", "board.add", AddIn{Title: "far task"})
	do[Tasked](a.house, "ann", "board.claim", TaskIn{TaskID: task.ID})
	a.contains(b.refused("bob", "board.claim", TaskIn{TaskID: task.ID}, fault.Conflict), "held by ann")
	// a third member joins through the second one's invite, on the first one's host
	link := do[Invited](b.house, "bob", "space.invite", InviteIn{Link: true}).Code
	c := newMachine(t)
	do[Joined](c.house, "cy", "space.join", JoinIn{Code: link})
	a.contains(do[BoardOut](c.house, "cy", "board.show", BoardIn{All: true}).Text, "far task (ann)")
}

// Who is in no space yet is told what to do about a host that cannot be reached, and nothing that is for members.
func TestANewcomerWhoDoesNotReachTheHost(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler()) // as a server that listens for its own machine alone
	defer plain.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	b := newMachine(t)
	for host, want := range map[string][]string{
		plain.Listener.Addr().String():  {"listens for its own machine alone", "tandem up --replace --listen", "tandem space invite"},
		closed.Listener.Addr().String(): {"nothing listens there", "ask the inviter for a new one"},
	} {
		said := b.refused("bob", "space.join", JoinIn{Code: "23EZ9Q@" + host}, fault.Unavailable)
		b.contains(said, append(want, host)...)
		for _, never := range []string{"take-over", "what you send", "Post ", "https://", "dial tcp"} {
			if strings.Contains(said, never) {
				t.Errorf("%q is in: %s", never, said)
			}
		}
	}
}

// A stranger on the network reaches the member's door and learns nothing.
func TestStrangersAtTheMembersDoor(t *testing.T) {
	a, b := far(t)
	_ = b
	l := newOutside(a.addr, "")
	for name, in := range map[string]any{
		"space.pull":   map[string]any{"space": "spc_00000000000000000000000000", "proof": map[string]any{}},
		"space.post":   map[string]any{"envelope": nil},
		"space.create": map[string]any{},
		"token.new":    map[string]any{"actor": "owner"},
	} {
		if err := l.call(t.Context(), name, in, nil); !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wrong := newOutside(a.addr, "SHA256:"+strings.Repeat("A", 43))
	if err := wrong.call(t.Context(), "space.knock", map[string]any{}, nil); !fault.Is(err, fault.Denied) || reason(err) != "pin" {
		t.Errorf("another key was accepted: %v", err)
	}
}

// A tandem server hosts a space and is no member of it: the members are
// elsewhere, invite each other through it, and a stranger cannot begin one there.
func TestAServerHosts(t *testing.T) {
	a, b, server := newMachine(t), newMachine(t), newMachine(t)
	token := ""
	a.knows = func(_ context.Context, host string) (Server, error) {
		return Server{Own: host == a.addr, Token: token, Pin: server.pin}, nil
	}
	a.restart()
	at := "https://" + server.addr // with TLS, though it is this machine
	a.contains(a.refused("ann", "space.create", CreateIn{Host: at}, fault.Conflict), "has not joined the server", "tandem space create --host")
	a.contains(a.refused("ann", "space.create", CreateIn{Host: "127.0.0.1:1"}, fault.Invalid), "over TLS")
	a.refused("ann", "space.create", CreateIn{Host: "nonsense"}, fault.Invalid)
	if err := newOutside(server.addr, "").call(t.Context(), "space.start", map[string]any{}, nil); !fault.Is(err, fault.Unauthenticated) {
		t.Fatalf("a stranger began a space: %v", err)
	}
	token = joined
	c := do[Created](a.house, "ann", "space.create", CreateIn{Name: "far", Host: at})
	a.contains(c.Text, "Hosted by "+server.addr, "cannot read it")
	do[Joined](b.house, "bob", "space.join", JoinIn{Code: c.Code})
	do[Said](b.house, "bob", "space.send", SendIn{Type: "chat", Message: "through the server"})
	a.contains(do[Inbox](a.house, "ann", "space.inbox", InboxIn{}).Text, "through the server")
	hosted := do[space.HostedOut](server.house, "ann", "space.hosted", nil)
	if len(hosted.Spaces) != 1 || hosted.Spaces[0].Members != 2 || len(server.peers.all()) != 0 {
		t.Errorf("the server shows %+v", hosted)
	}
	// the server goes for good: a member's machine takes its place
	server.unplug()
	b.takeOver("bob")
	eventually(t, "ann following", func() bool {
		s := do[Seats](a.house, "ann", "space.list", nil).Seats[0]
		return s.Host == b.addr && s.Term == 2
	})
}

// While the host is away, what is said waits and says so; it goes out by itself.
func TestTheHostIsAwayForAWhile(t *testing.T) {
	a, b := far(t)
	a.unplug()
	said := do[Said](b.house, "bob", "space.send", SendIn{Type: "status", Message: "sent into the dark"})
	b.contains(said.Text, "Not sent yet", "waits here")
	if said.State != "queued" {
		t.Fatalf("state %s", said.State)
	}
	b.contains(do[BoardOut](b.house, "bob", "board.show", BoardIn{All: true}).Text, "Not up to date")
	b.refused("bob", "board.claim", TaskIn{TaskID: "T-000000"}, fault.Unavailable)
	peers := do[Peers](b.house, "bob", "space.peers", nil)
	b.contains(peers.Text, "Online peers: not known", "ann (here or away: not known)")
	for _, p := range peers.Peers {
		if p.Online {
			t.Errorf("in a cut %s is said to be here", p.Username)
		}
	}
	b.contains(do[Said](b.house, "bob", "space.set_var", SetVarIn{Key: "never"}).Text, "is not known here")
	box := do[Inbox](b.house, "bob", "space.inbox", InboxIn{All: true}).Text
	b.contains(box, "Your change of a variable env_", "Your "+said.ID+" is queued")
	a.listen(nil)
	eventually(t, "the delivery of queued mail", func() bool {
		return strings.Contains(do[Inbox](a.house, "ann", "space.inbox", InboxIn{All: true}).Text, "sent into the dark")
	})
	if n := strings.Count(do[Inbox](a.house, "ann", "space.inbox", InboxIn{All: true}).Text, "sent into the dark"); n != 1 {
		t.Fatalf("delivered %d times", n)
	}
}

// The host is gone; a member takes over, the others follow, and the old host
// steps down when it returns. Nothing acknowledged is lost or doubled.
func TestTakeOver(t *testing.T) {
	a, b := far(t)
	c := newMachine(t)
	do[Who](c.house, "cy", "space.rename", RenameIn{Name: "cy"})
	do[Joined](c.house, "cy", "space.join", JoinIn{Code: do[Invited](a.house, "ann", "space.invite", InviteIn{}).Code})
	task := do[Tasked](a.house, "ann", "board.add", AddIn{Title: "survives"})
	do[Tasked](b.house, "bob", "board.claim", TaskIn{TaskID: task.ID})
	do[Said](a.house, "ann", "space.set_var", SetVarIn{Key: "k", Value: "v"})
	do[Vars](b.house, "bob", "space.get_var", GetVarIn{Key: "k"})
	do[Vars](c.house, "cy", "space.get_var", GetVarIn{Key: "k"})
	a.unplug()
	// what ann still says on her cut-off machine is acknowledged by her own host
	do[Said](a.house, "ann", "space.send", SendIn{Type: "chat", Message: "from the cut-off side"})

	b.lost("bob")
	if _, err := b.gate.Invoke(b.as("bob"), "space.take_over", nil); !fault.Is(err, fault.Denied) {
		t.Fatalf("an agent took over: %v", err)
	}
	out, err := b.gate.Invoke(b.person(), "space.take_over", nil)
	if err != nil {
		t.Fatal(err)
	}
	b.contains(out.(Said).Text, "hosts", "term 2")
	// whoever hosts is up to date: it said that it was not, as long as the old host was away
	for _, text := range []string{do[BoardOut](b.house, "bob", "board.show", BoardIn{All: true}).Text,
		do[Peers](b.house, "bob", "space.peers", nil).Text, do[Inbox](b.house, "bob", "space.inbox", InboxIn{All: true}).Text} {
		if strings.Contains(text, "Not up to date") || strings.Contains(text, "not known") {
			t.Errorf("the new host says of itself:\n%s", text)
		}
	}
	do[Said](b.house, "bob", "space.send", SendIn{Type: "chat", Message: "new house"})
	eventually(t, "the third member following", func() bool {
		return strings.Contains(do[Inbox](c.house, "cy", "space.inbox", InboxIn{All: true}).Text, "new house")
	})
	do[Said](c.house, "cy", "space.send", SendIn{Type: "chat", Message: "found you"})
	// the old host comes back
	a.listen(nil)
	eventually(t, "the old host stepping down", func() bool {
		box, err := a.gate.Invoke(a.as("ann"), "space.inbox", InboxIn{All: true})
		return err == nil && strings.Contains(box.(Inbox).Text, "found you") && strings.Contains(box.(Inbox).Text, "from the cut-off side")
	})
	eventually(t, "the cut-off message reaching the others", func() bool {
		return strings.Count(do[Inbox](c.house, "cy", "space.inbox", InboxIn{All: true}).Text, "from the cut-off side") == 1
	})
	for _, m := range []struct {
		h   *house
		who string
	}{{a.house, "ann"}, {b.house, "bob"}, {c.house, "cy"}} {
		text := do[Inbox](m.h, m.who, "space.inbox", InboxIn{All: true}).Text
		for _, want := range []string{"from the cut-off side", "new house", "found you"} {
			if strings.Count(text, want) != 1 {
				t.Errorf("%s has %q %d times", m.who, want, strings.Count(text, want))
			}
		}
		m.h.contains(do[BoardOut](m.h, m.who, "board.show", BoardIn{All: true}).Text, "survives (bob)")
		m.h.contains(do[Vars](m.h, m.who, "space.get_var", GetVarIn{Key: "k"}).Text, "k = v")
	}
	heads := map[string]bool{}
	for _, m := range []*machine{a, b, c} {
		for _, s := range m.peers.all() {
			s.mu.Lock()
			m.peers.fresh(t.Context(), s)
			heads[s.hash] = true
			s.mu.Unlock()
		}
	}
	if len(heads) != 1 {
		t.Errorf("the histories differ: %v", heads)
	}
}

// Every byte at the host, on the wire behind TLS and on its disk, holds none of
// what members said: words, code, titles, results, names, keys, paths.
func TestTheHostSeesNoWords(t *testing.T) {
	a, b := newMachine(t), newMachine(t)
	a.unplug()
	a.tape = new(tape)
	a.listen(nil)
	const mark = "plaintext-canary"
	secret := func(what string) string { return mark + "-" + what }
	do[Who](a.house, "ann", "space.rename", RenameIn{Name: secret("annname")})
	do[Who](b.house, "bob", "space.rename", RenameIn{Name: secret("bobname")})
	do[Created](a.house, "ann", "space.create", CreateIn{Name: secret("title")})
	code := do[Invited](a.house, "ann", "space.invite", InviteIn{Link: true}).Code
	inv, err := seal.ParseInvite(code)
	if err != nil {
		t.Fatal(err)
	}
	do[Joined](b.house, "bob", "space.join", JoinIn{Code: code})
	if err := os.WriteFile(filepath.Join(b.dir, secret("file")+".go"), []byte(secret("code")), 0o600); err != nil {
		t.Fatal(err)
	}
	do[Said](b.house, "bob", "space.send", SendIn{Type: "chat", Message: secret("message")})
	do[Said](b.house, "bob", "space.send", SendIn{Type: "chat", Message: secret("direct"), To: secret("annname")})
	do[Said](b.house, "bob", "space.share", ShareIn{File: secret("file") + ".go", Message: secret("remark")})
	do[Said](b.house, "bob", "space.set_var", SetVarIn{Key: secret("key"), Value: secret("value")})
	do[Leases](b.house, "bob", "space.reserve", ReserveIn{Path: secret("path")})
	task := do[Tasked](b.house, "bob", "board.add", AddIn{Title: secret("tasktitle"), Description: secret("description")})
	do[Tasked](b.house, "bob", "board.update", UpdateIn{TaskID: task.ID, Status: "in_progress"})
	do[Tasked](b.house, "bob", "board.update", UpdateIn{TaskID: task.ID, Status: "done", Result: secret("result")})
	do[Said](b.house, "bob", "board.finding", FindingIn{Service: secret("service"), Severity: "high", Summary: secret("summary")})
	a.refused("ann", "space.send", SendIn{Type: "chat", Message: "x", To: secret("nobody")}, fault.NotFound)
	a.contains(do[Inbox](a.house, "ann", "space.inbox", InboxIn{}).Text, secret("message"), secret("direct"), secret("code"),
		secret("bobname"))

	a.tape.mu.Lock()
	wire := a.tape.all.String()
	a.tape.mu.Unlock()
	if len(wire) < 10_000 || !strings.Contains(wire, "/space/remote") {
		t.Fatalf("the tape holds %d bytes: nothing was recorded", len(wire))
	}
	if i := strings.Index(wire, mark); i >= 0 {
		t.Errorf("on the wire: …%s…", wire[max(0, i-80):min(len(wire), i+80)])
	}
	if strings.Contains(wire, inv.Secret) {
		t.Error("the secret part of the invite was on the wire")
	}
	files := 0
	err = filepath.WalkDir(a.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files++
		if i := bytes.Index(data, []byte(mark)); i >= 0 {
			t.Errorf("on disk in %s: …%q…", filepath.Base(path), data[max(0, i-80):min(len(data), i+80)])
		}
		return err
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files, %v", files, err)
	}
}
