package daemon

import (
	"os"
	"strings"
	"testing"

	"tandem/internal/identity"
	inbox "tandem/internal/inbox/wire"
	"tandem/internal/op"
)

// The doctor said that the installation is whole without secret.key, and the next start refused to go on.
func TestTheDoctorMissesALostSecretKey(t *testing.T) {
	w := newWard(t, "")
	w.must(w.Call(t.Context(), "secret.set", map[string]any{"name": "a", "value": "a long value"}, nil))
	w.end()
	if _, _, missing, err := Parts(w.data); missing != nil || err != nil {
		t.Errorf("of a whole folder it says: %v, %v", missing, err)
	}
	key := w.read("secret.key")
	w.must(os.Remove(w.file("secret.key")))
	_, _, missing, err := Parts(w.data)
	if err != nil || missing == nil || !strings.Contains(missing.Error(), "secret.key") {
		t.Errorf("without the key it says: %v, %v", missing, err)
	}
	w.write("secret.key", key)
	w.start()
}

// Every browser and every notice told that root replaces the PIN; the list of what needs a person did not.
func TestARecoveryByRootIsInTheInbox(t *testing.T) {
	w := newWard(t, "")
	var rows inbox.Out
	w.must(w.Call(t.Context(), "inbox.list", map[string]any{"kind": "recovery"}, &rows))
	if len(rows.Rows) != 0 {
		t.Errorf("without a recovery: %+v", rows)
	}
	root, err := w.identity.Caller(t.Context(), identity.LocalTenant, identity.LocalUser, op.DoorSocket)
	w.must(err)
	root.Recovers = identity.ByRoot
	_, err = w.gate.Invoke(op.WithCaller(t.Context(), root), "recovery.begin", nil)
	w.must(err)
	w.must(w.Call(t.Context(), "inbox.list", map[string]any{"kind": "recovery"}, &rows))
	if len(rows.Rows) != 1 || rows.Rows[0].Next != "tandem recover stop" {
		t.Errorf("root began one: %+v", rows)
	}
	w.present("recovery.stop", map[string]any{}, nil)
	w.must(w.Call(t.Context(), "inbox.list", map[string]any{"kind": "recovery"}, &rows))
	if len(rows.Rows) != 0 {
		t.Errorf("after it was stopped: %+v", rows)
	}
}
