package identity

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// house is the room over one database, with a clock the test moves.
type house struct {
	*Room
	now time.Time
}

func eachDatabase(t *testing.T, test func(t *testing.T, h *house)) {
	for name, dsn := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "a.db") },
		"postgres": func(t *testing.T) string { return testenv.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			h := &house{now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
			d, err := db.Open(t.Context(), dsn(t), func() time.Time { return h.now })
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { d.Close() })
			if _, err := d.Migrate(t.Context(), Migrations); err != nil {
				t.Fatal(err)
			}
			if h.Room, err = New(t.Context(), d); err != nil {
				t.Fatal(err)
			}
			h.Waits = func(context.Context, *db.Tx, string, string) ([]string, error) { return nil, nil }
			test(t, h)
		})
	}
}

func owner(present string) context.Context {
	return op.WithCaller(context.Background(), op.Caller{Tenant: LocalTenant, Actor: WellKnown(Owner), Name: Owner, Kind: op.Person,
		Present: present})
}

// do runs a state handler as the gate would.
func do[In, Out any](t *testing.T, h *house, ctx context.Context, run func(context.Context, *db.Tx, In) (Out, error), in In) (out Out,
	err error) {
	t.Helper()
	err = h.db.Write(ctx, func(tx *db.Tx) (err error) { out, err = run(ctx, tx, in); return err })
	return out, err
}

func TestTokensEndWhenTheyShould(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		ctx := owner("pin")
		agent, err := do(t, h, ctx, h.add, AddIn{Name: "builder", Kind: op.Agent})
		if err != nil {
			t.Fatal(err)
		}
		short, err := do(t, h, ctx, h.mint, MintIn{Actor: "builder", TTL: 60})
		if err != nil {
			t.Fatal(err)
		}
		long, err := do(t, h, ctx, h.mint, MintIn{Actor: "builder"})
		if err != nil {
			t.Fatal(err)
		}
		c, err := h.Bearer(t.Context(), short.Secret, op.DoorHTTP)
		if err != nil || c.Name != "builder" || c.Kind != op.Agent || strings.Join(c.For, " ") != "person:owner" || c.Decides || c.Present != "" {
			t.Fatalf("caller = %+v, %v", c, err)
		}
		for _, wrong := range []string{"", "tdm_", short.Secret + "x", short.Secret[:len(short.Secret)-1], short.ID} {
			if _, err := h.Bearer(t.Context(), wrong, op.DoorHTTP); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("Bearer(%q) = %v", wrong, err)
			}
		}
		h.now = h.now.Add(time.Minute)
		if _, err := h.Bearer(t.Context(), short.Secret, op.DoorHTTP); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("an expired token: %v", err)
		}
		if _, err := do(t, h, ctx, h.revoke, TokenIn{ID: long.ID}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Bearer(t.Context(), long.Secret, op.DoorHTTP); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("a revoked token: %v", err)
		}
		third, err := do(t, h, ctx, h.mint, MintIn{Actor: agent.ID})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := do(t, h, ctx, h.disable, NameIn{Name: "builder"}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Bearer(t.Context(), third.Secret, op.DoorHTTP); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("a disabled actor's token: %v", err)
		}
	})
}

func TestWhoActsForADisabledActorStopsToo(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		ctx := owner("pin")
		for _, in := range []AddIn{{Name: "lead", Kind: op.Agent}, {Name: "helper", Kind: op.Agent, For: "lead"}} {
			if _, err := do(t, h, ctx, h.add, in); err != nil {
				t.Fatal(err)
			}
		}
		token, err := do(t, h, ctx, h.mint, MintIn{Actor: "helper"})
		if err != nil {
			t.Fatal(err)
		}
		if c, err := h.Bearer(t.Context(), token.Secret, op.DoorHTTP); err != nil || strings.Join(c.For, " ") != "agent:lead person:owner" {
			t.Fatalf("caller = %+v, %v", c, err)
		}
		if _, err := do(t, h, ctx, h.disable, NameIn{Name: "lead"}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Bearer(t.Context(), token.Secret, op.DoorHTTP); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the helper of a disabled lead: %v", err)
		}
	})
}

func TestADecidingTokenIsAPersonsAndEnds(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		ctx := owner("pin")
		if _, err := do(t, h, ctx, h.add, AddIn{Name: "bot", Kind: op.Service}); err != nil {
			t.Fatal(err)
		}
		for _, bad := range []MintIn{
			{Actor: "bot", Decides: true, TTL: 60}, {Actor: Owner, Decides: true},
			{Actor: Owner, Decides: true, TTL: int64(MaxDecideLife/time.Second) + 1},
			{Actor: LocalUser}, {Actor: System}, {Actor: Owner, TTL: -1},
		} {
			if _, err := do(t, h, ctx, h.mint, bad); !fault.Is(err, fault.Invalid) {
				t.Errorf("mint %+v: %v", bad, err)
			}
		}
		good, err := do(t, h, ctx, h.mint, MintIn{Actor: Owner, Decides: true, TTL: 60})
		if err != nil {
			t.Fatal(err)
		}
		if c, err := h.Bearer(t.Context(), good.Secret, op.DoorHTTP); err != nil || !c.Decides || c.Present != "" {
			t.Errorf("caller = %+v, %v", c, err)
		}
	})
}

func TestWrongPINsAreCountedBeforeTheyAreChecked(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		var told []WrongPIN
		h.Wrong = func(_ *db.Tx, w WrongPIN) error { told = append(told, w); return nil }
		prove := func(pin string) error {
			return h.ProvePIN(t.Context(), LocalTenant, WellKnown(Owner), pin, "terminal 1")
		}
		if err := prove("123456"); !fault.Is(err, fault.Denied) {
			t.Errorf("without a PIN: %v", err)
		}
		local := op.WithCaller(t.Context(), op.Caller{Tenant: LocalTenant, Actor: WellKnown(LocalUser), Kind: op.Local})
		for _, weak := range []string{"", "12345", "aaaaaaaa", strings.Repeat("ab", 100)} {
			if _, err := do(t, h, local, h.setPIN, PINIn{PIN: weak}); !fault.Is(err, fault.Invalid) {
				t.Errorf("PIN %q: %v", weak, err)
			}
		}
		if _, err := do(t, h, local, h.setPIN, PINIn{PIN: "correct horse"}); err != nil {
			t.Fatal(err)
		}
		if _, err := do(t, h, local, h.setPIN, PINIn{PIN: "something else"}); !fault.Is(err, fault.Denied) {
			t.Errorf("changing it without the old one: %v", err)
		}
		for i := range freeTries {
			if err := prove("wrong one"); !fault.Is(err, fault.Denied) {
				t.Errorf("wrong PIN %d: %v", i, err)
			}
		}
		if err := prove("correct horse"); !fault.Is(err, fault.Exhausted) {
			t.Errorf("the right PIN during the pause: %v", err)
		}
		if len(told) != freeTries || told[2].Count != 3 || told[2].Caller != "terminal 1" || told[2].Pause == 0 {
			t.Errorf("told %+v", told)
		}
		h.now = h.now.Add(time.Minute)
		if err := prove("correct horse"); err != nil {
			t.Errorf("the right PIN after a minute: %v", err)
		}
		if err := prove("wrong one"); !fault.Is(err, fault.Denied) {
			t.Errorf("the count did not start again: %v", err)
		}
	})
}

// An agent that guessed once an hour kept the person out: the pauses grew to an hour and were everybody's, and nothing was
// written down. Now a guesser's pauses are its own however many names it takes, and where a PIN is long nobody waits for more
// than a minute.
func TestAGuesserDoesNotKeepThePersonOut(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		local := op.WithCaller(t.Context(), op.Caller{Tenant: LocalTenant, Actor: WellKnown(LocalUser), Kind: op.Local})
		if _, err := do(t, h, local, h.setPIN, PINIn{PIN: "12345678"}); err != nil {
			t.Fatal(err)
		}
		prove := func(caller, pin string) error {
			return h.ProvePIN(t.Context(), LocalTenant, WellKnown(Owner), pin, caller)
		}
		if err := prove("my terminal", "12345678"); err != nil {
			t.Fatal(err)
		}
		checked := 0
		for i := range 400 { // an hour of guessing, under a new name each time
			if err := prove(fmt.Sprintf("guesser %d", i), "87654321"); fault.Is(err, fault.Denied) {
				checked++
			}
			h.now = h.now.Add(9 * time.Second)
		}
		if checked > freeTries+70 {
			t.Errorf("%d guesses were checked in an hour", checked)
		}
		if err := prove("my terminal", "12345678"); err != nil {
			t.Errorf("the person's own terminal: %v", err)
		}
		_ = prove("a new terminal", "12345678")
		h.now = h.now.Add(time.Minute)
		if err := prove("a new terminal", "12345678"); err != nil {
			t.Errorf("a new terminal after a minute: %v", err)
		}
		for range 20 {
			_ = prove("my terminal", "87654321")
			h.now = h.now.Add(time.Minute)
		}
		_ = prove("my terminal", "87654321")
		if err := prove("my terminal", "12345678"); !fault.Is(err, fault.Exhausted) {
			t.Errorf("right after a wrong one: %v", err)
		}
		if err := h.db.Write(t.Context(), func(tx *db.Tx) error { return clearTries(tx, LocalTenant, WellKnown(Owner)) }); err != nil {
			t.Fatal(err)
		}
		if err := prove("my terminal", "12345678"); err != nil {
			t.Errorf("after a passkey: %v", err)
		}
	})
	for wrong, want := range map[int][2]time.Duration{1: {0, 0}, 3: {5 * time.Second, 5 * time.Second},
		6: {40 * time.Second, 40 * time.Second}, 7: {80 * time.Second, time.Minute}, 100: {time.Hour, time.Minute}} {
		if short, long := pause(wrong, false), pause(wrong, true); short != want[0] || long != want[1] {
			t.Errorf("after %d wrong PINs: %s, long %s", wrong, short, long)
		}
	}
}

func TestASignInLinkWorksOnceAndIsNeverPresence(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		link, err := do(t, h, owner(""), h.link, Nothing{})
		if err != nil {
			t.Fatal(err)
		}
		newcomer := op.WithCaller(t.Context(), op.Caller{Tenant: LocalTenant, Actor: WellKnown(Newcomer), Name: Newcomer, Kind: op.Service})
		signed, err := do(t, h, newcomer, h.start, StartIn{Code: link.Code, Agent: "Firefox on a phone"})
		if err != nil || signed.LifeSecs <= 0 {
			t.Fatal(err)
		}
		cookie := signed.Cookie
		if _, err := do(t, h, newcomer, h.start, StartIn{Code: link.Code, Agent: "Firefox on a phone"}); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the link again: %v", err)
		}
		c, err := h.Cookie(t.Context(), cookie)
		if err != nil || c.Name != Owner || c.Present != "" || c.Door != op.DoorPanel {
			t.Errorf("caller = %+v, %v", c, err)
		}
		if _, err := h.Cookie(t.Context(), link.Code); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("a link's code as a cookie: %v", err)
		}
		if _, err := h.Bearer(t.Context(), cookie, op.DoorHTTP); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("a cookie as a token: %v", err)
		}
		list, err := h.browsers(op.WithCaller(t.Context(), c), BrowsersIn{})
		if err != nil || len(list.Browsers) != 1 || list.Browsers[0].Agent != "Firefox on a phone" || !list.Browsers[0].Here {
			t.Errorf("signed-in browsers: %+v, %v", list.Browsers, err)
		}
		if _, err := do(t, h, owner(""), h.leave, Nothing{}); !fault.Is(err, fault.Invalid) {
			t.Errorf("signing out without a browser: %v", err)
		}
		if _, err := do(t, h, op.WithCaller(t.Context(), c), h.leave, Nothing{}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Cookie(t.Context(), cookie); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("after signing out: %v", err)
		}
		late, err := do(t, h, owner(""), h.link, Nothing{})
		if err != nil {
			t.Fatal(err)
		}
		h.now = h.now.Add(linkLife)
		if _, err := do(t, h, newcomer, h.start, StartIn{Code: late.Code, Agent: "Firefox on a phone"}); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("an old link: %v", err)
		}
	})
}

func TestASignedInBrowserIsEndedFromElsewhere(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		var cookies, ids []string
		for range 2 {
			link, err := do(t, h, owner(""), h.link, Nothing{})
			if err != nil {
				t.Fatal(err)
			}
			signed, err := do(t, h, owner(""), h.start, StartIn{Code: link.Code, Agent: "a browser\x00\xff" + strings.Repeat("!", 900)})
			if err != nil {
				t.Fatal(err)
			}
			c, err := h.Cookie(t.Context(), signed.Cookie)
			if err != nil {
				t.Fatal(err)
			}
			cookies, ids = append(cookies, signed.Cookie), append(ids, c.Token)
		}
		if _, err := do(t, h, owner("pin"), h.endBrowser, BrowserIn{ID: "signin_0000000000000000"}); !fault.Is(err, fault.NotFound) {
			t.Errorf("a browser that is not there: %v", err)
		}
		if _, err := do(t, h, owner("pin"), h.endBrowser, BrowserIn{ID: ids[0]}); err != nil {
			t.Fatal(err)
		}
		if _, err := h.Cookie(t.Context(), cookies[0]); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the ended browser: %v", err)
		}
		if _, err := h.Cookie(t.Context(), cookies[1]); err != nil {
			t.Errorf("the other browser: %v", err)
		}
	})
}

func TestAnInvitationLetsInOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		newcomer := op.WithCaller(t.Context(), op.Caller{Tenant: LocalTenant, Actor: WellKnown(Newcomer), Name: Newcomer, Kind: op.Service})
		invite, err := do(t, h, owner("pin"), h.inviteOp, InviteIn{})
		if err != nil {
			t.Fatal(err)
		}
		first, err := do(t, h, newcomer, h.redeem, RedeemIn{Name: "laptop", Invite: invite.Invite})
		if err != nil || first.Actor != "laptop" {
			t.Fatalf("redeem = %+v, %v", first, err)
		}
		if _, err := do(t, h, newcomer, h.redeem, RedeemIn{Name: "laptop", Invite: invite.Invite}); !fault.Is(err, fault.Denied) {
			t.Errorf("the invitation again: %v", err)
		}
		again, err := do(t, h, owner("pin"), h.inviteOp, InviteIn{TTL: 60})
		if err != nil {
			t.Fatal(err)
		}
		second, err := do(t, h, newcomer, h.redeem, RedeemIn{Name: "laptop", Invite: again.Invite})
		if err != nil || second.Actor != "laptop-2" {
			t.Errorf("a name that is taken: %+v, %v", second, err)
		}
		if c, err := h.Bearer(t.Context(), second.Secret, op.DoorHTTP); err != nil || c.Kind != op.Agent {
			t.Errorf("the newcomer's token: %+v, %v", c, err)
		}
	})
}

// A caller is let in again until the token, the browser or somebody it acts for
// ends.
func TestStill(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		ctx := owner("pin")
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err := do(t, h, ctx, h.add, AddIn{Name: "builder", Kind: op.Agent})
		must(err)
		made, err := do(t, h, ctx, h.mint, MintIn{Actor: "builder"})
		must(err)
		token, err := h.Bearer(t.Context(), made.Secret, op.DoorHTTP)
		must(err)
		link, err := do(t, h, ctx, h.link, Nothing{})
		must(err)
		cookie, err := do(t, h, ctx, h.start, StartIn{Code: link.Code})
		must(err)
		browser, err := h.Cookie(t.Context(), cookie.Cookie)
		must(err)
		session := op.Caller{Tenant: LocalTenant, Actor: "ses_1", Name: "ses_1", Kind: op.Session, For: []string{"agent:builder", "person:owner"}}
		for _, c := range []struct {
			who op.Caller
			end func() error
		}{
			{token, func() error { _, err := do(t, h, ctx, h.revoke, TokenIn{ID: token.Token}); return err }},
			{browser, func() error { _, err := do(t, h, ctx, h.endBrowser, BrowserIn{ID: browser.Token}); return err }},
			{session, func() error { _, err := do(t, h, ctx, h.disable, NameIn{Name: "builder"}); return err }},
		} {
			must(h.Still(t.Context(), c.who))
			must(c.end())
			if err := h.Still(t.Context(), c.who); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s afterwards: %v", c.who.Name, err)
			}
		}
	})
}
