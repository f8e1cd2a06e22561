package prepare

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"tandem/internal/egress"
	"tandem/internal/fault"
)

// Registries are where dependencies of each kind come from: a person named them.
type Registries map[Kind]string

// ParseRegistries reads a setting: go=https://proxy.golang.org,npm=https://registry.npmjs.org. Empty names none.
func ParseRegistries(text string) (Registries, error) {
	out := Registries{}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		kind, at, _ := strings.Cut(item, "=")
		u, err := url.Parse(at)
		switch {
		case !slices.Contains(Kinds, Kind(kind)):
			return nil, bad("%.60q names no kind of registry that is known here: go and npm are", item)
		case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
			return nil, bad("%.200q is no address of a registry: https://HOST/PATH, without a password in it", at)
		case out[Kind(kind)] != "":
			return nil, bad("there are two registries for %s", kind)
		}
		out[Kind(kind)] = strings.TrimSuffix(at, "/")
	}
	return out, nil
}

// Named are the kinds for which a registry is named.
func (r Registries) Named() []Kind { return slices.Sorted(maps.Keys(r)) }

// below says whether an address lies in a registry, and gives its path there.
func below(registry, address string) (string, bool) {
	at, err := url.Parse(address)
	in, err2 := url.Parse(registry)
	if err != nil || err2 != nil || at.User != nil || at.Scheme != in.Scheme || !strings.EqualFold(at.Host, in.Host) {
		return "", false
	}
	rest, ok := strings.CutPrefix(at.EscapedPath(), in.EscapedPath()+"/")
	if !ok || slices.ContainsFunc(strings.Split(at.Path, "/"), func(p string) bool { return p == ".." }) {
		return "", false
	}
	return rest, true
}

// client fetches from the named registries alone, also where one sends it elsewhere.
func client(r Registries) *http.Client {
	all := slices.Collect(maps.Values(r))
	guard := &egress.Guard{Origins: all}
	return &http.Client{Transport: guard.Transport(), CheckRedirect: func(req *http.Request, via []*http.Request) error {
		named := slices.ContainsFunc(all, func(in string) bool { _, ok := below(in, req.URL.String()); return ok })
		if !named || len(via) > 5 {
			return bad("it sends to %.200s, which is no registry that somebody named", req.URL.Redacted()).
				WithNext("%s", nameIt)
		}
		return nil
	}}
}

const nameIt = "a person names registries with the setting job_registries: tandem settings show"

// fetch reads what is at an address of a registry, to a length.
func fetch(ctx context.Context, c *http.Client, address string, most int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	away := func(why string) error {
		return fault.New(fault.Conflict, "job.prepare", "the registry does not give %s: %s", address, why).
			WithNext("see that it is there, then: tandem job resume JOB")
	}
	res, err := c.Do(req)
	if err != nil {
		if ctx.Err() != nil && context.Cause(ctx) == context.Canceled {
			return nil, ctx.Err()
		}
		return nil, away(fault.Clip(err.Error(), 300))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, away(fmt.Sprintf("it answers %d", res.StatusCode))
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	if err != nil {
		return nil, away(fault.Clip(err.Error(), 300))
	}
	if int64(len(body)) > most {
		return nil, away(fmt.Sprintf("it is longer than %d bytes", most))
	}
	return body, nil
}
