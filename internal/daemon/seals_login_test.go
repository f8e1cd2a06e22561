package daemon

import (
	"strings"
	"testing"

	"tandem/internal/fault"
)

// A line of SQL moved a login to another server, in the clear: the next command of its person sent their token there.
func TestALoginLeadsWhereItWasGiven(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		const token = "tdm_a-token-for-the-server-elsewhere"
		login := map[string]any{"name": "build", "server": "build.example.org:13013", "key": "SHA256:" + strings.Repeat("A", 43),
			"person": "ann", "terminal": "ann-laptop", "token": token}
		w.must(w.Call(ctx, "login.add", login, nil))
		w.must(w.Call(ctx, "login.use", map[string]any{"name": "own"}, nil))
		lent := func() error {
			l, got, err := w.rooms.login.Token(ctx, "local", "build")
			if err == nil && (got != token || l.Server != login["server"]) {
				t.Errorf("the login is %+v with %q", l, got)
			}
			return err
		}
		w.must(lent())
		w.again()
		w.must(lent())
		for _, row := range []string{"server = 'evil.example.org:80'", "server_key = ''", "person = 'eve'", "device = 'dev_eve'",
			"server_id = 'house_eve'", `sealed_key = '{}'`} {
			column, _, _ := strings.Cut(row, " ")
			w.sql("CREATE TABLE was AS SELECT * FROM login", "UPDATE login SET "+row)
			if err := lent(); !fault.Is(err, fault.Denied) {
				t.Errorf("with %s the token is lent: %v", row, err)
			}
			if err := w.Call(ctx, "login.device", map[string]any{"name": "build"}, nil); err == nil ||
				strings.Contains(err.Error(), "no PIN was set") {
				t.Errorf("with %s its key is handed out: %v", row, err)
			}
			w.told("the login build at ")
			w.sql("UPDATE login SET "+column+" = (SELECT "+column+" FROM was)", "DROP TABLE was")
			w.must(lent())
		}
		if said := w.finds(); said != "" {
			t.Errorf("as it was given: %s", said)
		}
		w.sql("DELETE FROM login")
		w.told("vouches for the login build")
		w.must(w.Call(ctx, "login.forget", map[string]any{"name": "build"}, nil))
		if said := w.finds(); said != "" {
			t.Errorf("after it was forgotten: %s", said)
		}
	})
}
