package forge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"tandem/internal/fault"
)

// A branch is pushed by this program itself, over the same guarded way as everything else: git would follow the person's settings, dial
// what it likes, and want the token in its environment. What is sent is git's own smart protocol: a reference from where it stood to where
// it shall stand, and a pack.

// remote is a forge's repository as git sees it.
type remote struct {
	client *http.Client
	url    string // of the repository, ending in .git
	token  string
	name   string
}

const none = "0000000000000000000000000000000000000000"

// service is the half of git's protocol that takes what is pushed.
const service = "git-receive-pack"

// refs are the branches and tags there.
func (r *remote) refs(ctx context.Context) (map[string]string, error) {
	res, err := r.ask(ctx, "GET", "/info/refs?service="+service, nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	in := bufio.NewReader(io.LimitReader(res.Body, maxAnswer))
	out, flushes := map[string]string{}, 0
	for flushes < 2 {
		line, err := packet(in)
		if err != nil {
			return nil, fault.New(fault.Unavailable, "forge", "%s does not speak git's protocol at its address", r.name)
		}
		if line == nil {
			flushes++
			continue
		}
		text, _, _ := bytes.Cut(line, []byte{0})
		if id, ref, ok := strings.Cut(strings.TrimSpace(string(text)), " "); ok && len(id) == len(none) && hash(id) != "" && id != none {
			out[ref] = id
		}
	}
	return out, nil
}

// push moves a branch there from where it stood, with the objects that are missing.
func (r *remote) push(ctx context.Context, branch, from, to string, pack func(io.Writer) error) error {
	if from == "" {
		from = none
	}
	ref := "refs/heads/" + branch
	body, into := io.Pipe()
	go func() {
		_, err := io.WriteString(into, pkt(fmt.Sprintf("%s %s %s\x00report-status agent=tandem\n", from, to, ref))+"0000")
		if err == nil {
			err = pack(into)
		}
		into.CloseWithError(err) //nolint:errcheck // it never fails
	}()
	defer body.Close() //nolint:errcheck // whoever writes is told
	res, err := r.ask(ctx, "POST", "/"+service, body)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	in := bufio.NewReader(io.LimitReader(res.Body, 1<<20))
	for {
		line, err := packet(in)
		if err != nil || line == nil {
			return fault.New(fault.Unavailable, "forge", "%s did not say whether it took the branch", r.name)
		}
		said := strings.TrimSpace(string(line))
		switch {
		case said == "unpack ok":
		case said == "ok "+ref:
			return nil
		default:
			return fault.New(fault.Conflict, "forge.post", "%s refuses the branch %s: %q", r.name, branch, fault.Clip(said, 200))
		}
	}
}

func (r *remote) ask(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, body)
	if err != nil {
		return nil, err
	}
	req.SetBasicAuth("x-access-token", r.token)
	req.Header.Set("User-Agent", "git/tandem")
	if body != nil {
		req.Header.Set("Content-Type", "application/x-"+service+"-request")
		req.Header.Set("Accept", "application/x-"+service+"-result")
	}
	res, err := r.client.Do(req)
	if err != nil {
		var f *fault.Error
		if errors.As(err, &f) { // the guard's word, or git's
			return nil, f
		}
		return nil, fault.New(fault.Unavailable, "forge", "%s cannot be reached to push to", r.name)
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close() //nolint:errcheck // nothing of it is read
		return nil, fault.New(fault.Denied, "forge.post", "%s does not let the token push (%d)", r.name, res.StatusCode).
			WithNext("add it anew with another token: tandem forge add %s OWNER/REPO", r.name)
	}
	return res, nil
}

func pkt(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

// packet reads one packet; nil for a flush.
func packet(in *bufio.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(in, size[:]); err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(string(size[:]), 16, 16)
	if err != nil || n > 0 && n < 4 {
		return nil, errors.New("no packet")
	}
	if n == 0 {
		return nil, nil
	}
	line := make([]byte, n-4)
	_, err = io.ReadFull(in, line)
	return line, err
}
