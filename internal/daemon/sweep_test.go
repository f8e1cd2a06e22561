package daemon

import (
	"context"
	"testing"

	"tandem/internal/op"
	"tandem/internal/testenv"
)

// The system may write down what time alone has changed.
func TestSweepsAreAllowed(t *testing.T) {
	d, _ := runAt(t, testenv.Dir(t))
	ctx := op.WithCaller(context.Background(), d.system())
	for _, name := range []string{"resource.sweep", "approval.expire"} {
		if _, err := d.gate.Invoke(ctx, name, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
