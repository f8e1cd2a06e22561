package daemon

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"tandem/internal/egress"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/memory"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// fetching is how long the files of a model may take to come.
const fetching = time.Hour

// makeMemory gives the room of memory what it does not own.
func (d *Daemon) makeMemory() {
	r := memory.New(d.db)
	r.Forgot, r.Rooms = d.forgotten, &d.inner
	r.Models = memory.Models{Ask: d.rooms.models.Embed, Leaves: d.rooms.models.Leaves, Goes: d.goesOut, Fetch: d.fetchModel,
		Folder: filepath.Join(d.data, "models"), House: identity.LocalTenant, Vouch: d.journal.Vouch()}
	d.rooms.memory = r
}

// goesOut reports whether what lies at a resource may be sent out of the house: it is everyday data.
func (d *Daemon) goesOut(ctx context.Context, tenant string, at op.Resource) (bool, error) {
	rules, err := d.rooms.book.Policy(ctx, tenant)
	return err == nil && rules.Everyday(policy.ResourceRef{Kind: policy.ResourceKind(at.Kind), Path: at.Path}), err
}

// fetchModel opens what is at an address. Nothing inside is asked, unless people of the house named an address that plainly says so.
func (d *Daemon) fetchModel(ctx context.Context, tenant, address string) (io.ReadCloser, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fault.New(fault.Invalid, "memory.model", "%.200q is no address", address)
	}
	guard := &egress.Guard{}
	if tenant == identity.LocalTenant && egress.PlainlyInside(address) {
		guard.Origins = []string{u.Scheme + "://" + u.Host}
	}
	ctx, stop := context.WithTimeout(ctx, fetching)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		stop()
		return nil, err
	}
	res, err := (&http.Client{Transport: guard.Transport()}).Do(req)
	if err != nil {
		stop()
		return nil, fault.New(fault.Unavailable, "memory.model", "%.200s: %w", address, err)
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		stop()
		kind := fault.Unavailable
		if res.StatusCode == http.StatusNotFound {
			kind = fault.NotFound
		}
		return nil, fault.New(kind, "memory.model", "%.200s answers %s", address, fmt.Sprint(res.StatusCode))
	}
	return &stopping{res.Body, stop}, nil
}

// stopping is a body that ends its request when it is closed.
type stopping struct {
	io.ReadCloser
	stop context.CancelFunc
}

func (s *stopping) Close() error {
	defer s.stop()
	return s.ReadCloser.Close()
}
