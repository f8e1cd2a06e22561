package connector

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"tandem/internal/connector/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// signInPatience is how long a person has to sign in.
const signInPatience = 10 * time.Minute

// signedIn is what is kept of a sign-in, sealed: enough to use it and to renew it.
type signedIn struct {
	ClientID     string           `json:"client_id"`
	ClientSecret string           `json:"client_secret,omitempty"`
	TokenURL     string           `json:"token_url"`
	Style        oauth2.AuthStyle `json:"style"`
	Scopes       []string         `json:"scopes,omitempty"`
	Token        *oauth2.Token    `json:"token"`
}

func keptName(name string) string { return "connector/" + name + "/oauth" }

func (k *signedIn) config() *oauth2.Config {
	return &oauth2.Config{ClientID: k.ClientID, ClientSecret: k.ClientSecret,
		Endpoint: oauth2.Endpoint{TokenURL: k.TokenURL, AuthStyle: k.Style}, Scopes: k.Scopes}
}

// CallbackIn is what the authorization server sent the browser back with.
type CallbackIn struct {
	Name  string `json:"name,omitempty"`
	Code  string `json:"code,omitempty"`
	State string `json:"state" jsonschema:"the state of the sign-in that was begun"`
	Iss   string `json:"iss,omitempty"`
	Error string `json:"error,omitempty"`
}

func (r *Room) signInOps() []op.Op {
	return []op.Op{
		op.Binding(wire.Login.Effect(op.Spec{Right: "connector.write", Method: "POST", Path: "/connectors/{name}/login", MCP: "-",
			Doc: "Begin a sign-in at a connector's authorization server, and say where a person goes for it."}, named, r.login, nil), r.bindIt),
		wire.Logout.State(op.Spec{Right: "connector.write", Method: "DELETE", Path: "/connectors/{name}/login", MCP: "-",
			Doc: "Forget a sign-in. The next call needs a new one."}, named, r.logout),
	}
}

// flow is a sign-in that a person is in the middle of. It lives in memory: after a restart it is begun again.
type flow struct {
	tenant, name string
	url          chan string
	code         chan CallbackIn
	done         chan error
}

// flows are the open ones, by the state that the browser brings back.
type flows struct {
	mu      sync.Mutex
	byState map[string]*flow
	renew   map[string]*sync.Mutex // by tenant and name: one renews at a time
}

func (f *flows) lock(tenant, name string) func() {
	f.mu.Lock()
	k := tenant + "\x00" + name
	if f.renew == nil {
		f.renew = map[string]*sync.Mutex{}
	}
	m := f.renew[k]
	if m == nil {
		m = &sync.Mutex{}
		f.renew[k] = m
	}
	f.mu.Unlock()
	m.Lock()
	return m.Unlock
}

func (f *flows) add(state string, x *flow) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byState == nil {
		f.byState = map[string]*flow{}
	}
	f.byState[state] = x
}

// take gives a flow to the one who knows its state, once.
func (f *flows) take(state string) *flow {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.byState[state]
	delete(f.byState, state)
	return x
}

func (r *Room) login(ctx context.Context, in wire.NameIn) (wire.LoginOut, error) {
	c, err := r.Load(ctx, op.CallerFrom(ctx).Tenant, in.Name)
	if err != nil {
		return wire.LoginOut{}, err
	}
	back := ""
	if r.Callback != nil {
		back = r.Callback()
	}
	switch {
	case c.URL == "" || c.Header != "":
		return wire.LoginOut{}, fault.New(fault.Conflict, "connector.login",
			"%s is not signed in to: it is a program, or has a secret of its own", c.Name)
	case back == "":
		return wire.LoginOut{}, fault.New(fault.Conflict, "connector.login", "a browser could not come back: this server listens on no address").
			WithNext("start it: tandem up")
	}
	f := &flow{tenant: c.Tenant, name: c.Name, url: make(chan string, 1), code: make(chan CallbackIn, 1), done: make(chan error, 1)}
	long, cancel := context.WithTimeout(context.WithoutCancel(ctx), signInPatience)
	go func() {
		defer cancel()
		f.done <- r.signIn(long, c, f, back)
	}()
	select {
	case u := <-f.url:
		return wire.LoginOut{URL: u, State: wire.AuthRequired}, nil
	case err := <-f.done:
		if err != nil {
			return wire.LoginOut{}, explain(ctx, c, newConversation(), nil, err)
		}
		c, err = r.Load(ctx, c.Tenant, c.Name)
		if err != nil {
			return wire.LoginOut{}, err
		}
		return wire.LoginOut{URL: "", State: c.State}, nil
	case <-ctx.Done():
		cancel()
		return wire.LoginOut{}, fault.New(fault.Unavailable, "connector.login", "%s did not answer in time", c.Name)
	}
}

// signIn goes through the whole flow: the server says that it wants one, its authorization server is found, this program is
// registered there, a person agrees in the browser, and the code is exchanged with its proof.
func (r *Room) signIn(ctx context.Context, c *wire.Connector, f *flow, back string) error {
	asked := false
	var refused error
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RedirectURL: back, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: r.oauthClient(c),
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{ClientName: "Tandem",
			RedirectURIs: []string{back},
			GrantTypes:   []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none"}},
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			u, err := url.Parse(args.URL)
			if err != nil {
				return nil, err
			}
			if asked { // a person is asked once, however often the connection is tried
				return nil, fault.New(fault.Denied, "connector.login", "%s does not take the sign-in", c.Name)
			}
			asked = true
			r.flows.add(u.Query().Get("state"), f)
			defer r.flows.take(u.Query().Get("state"))
			f.url <- args.URL
			select {
			case got := <-f.code:
				if got.Error != "" {
					refused = fault.New(fault.Denied, "connector.login", "the authorization server says no: %.100q", got.Error)
					return nil, refused
				}
				return &auth.AuthorizationResult{Code: got.Code, State: got.State, Iss: got.Iss}, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		},
		NewTokenSource: func(ctx context.Context, cfg *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			k := &signedIn{ClientID: cfg.ClientID, ClientSecret: cfg.ClientSecret, TokenURL: cfg.Endpoint.TokenURL, Style: cfg.Endpoint.AuthStyle,
				Scopes: cfg.Scopes}
			if err := r.keep(ctx, c, k, t); err != nil {
				return nil, err
			}
			return oauth2.StaticTokenSource(t), nil
		}})
	if err != nil {
		return err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "tandem", Version: "1"}, nil)
	s, err := client.Connect(ctx, r.httpTransport(c, newConversation(), "", handler), nil)
	if err == nil {
		err = s.Close()
	}
	if refused != nil {
		return refused
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	if _, looked := r.look(after, c.Tenant, c.Name); err == nil {
		err = looked
	}
	return err
}

// Finish brings a browser's answer to the sign-in that waits for it.
func (r *Room) Finish(in CallbackIn) error {
	f := r.flows.take(in.State)
	if f == nil || in.Name != "" && in.Name != f.name || in.Code == "" && in.Error == "" {
		return fault.New(fault.NotFound, "connector.login", "no sign-in waits for this answer").
			WithNext("begin again: tandem connector login NAME")
	}
	f.code <- in
	select {
	case err := <-f.done:
		return err
	case <-time.After(timeout):
		return fault.New(fault.Unavailable, "connector.login", "%s did not answer in time", f.name)
	}
}

func (r *Room) logout(ctx context.Context, tx *db.Tx, in wire.NameIn) (*wire.Connector, error) {
	c, err := r.change(ctx, tx, in.Name, func(c *wire.Connector) error {
		c.State, c.Failure = wire.AuthRequired, "it was signed out"
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c, r.keys.Drop(tx, c.Tenant, keptName(c.Name))
}

// keep stores a token.
func (r *Room) keep(ctx context.Context, c *wire.Connector, k *signedIn, t *oauth2.Token) error {
	k.Token = t
	r.learn(k)
	raw, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return r.db.Write(ctx, func(tx *db.Tx) error { return r.keys.Put(tx, c.Tenant, keptName(c.Name), string(raw), "sign-in") })
}

// kept is the stored sign-in, nil when there is none.
func (r *Room) kept(ctx context.Context, c *wire.Connector) (*signedIn, error) {
	var k *signedIn
	err := r.keys.Lend(ctx, c.Tenant, keptName(c.Name), func(v []byte) error { return json.Unmarshal(v, &k) })
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	r.learn(k)
	return k, err
}

// learn makes sure that no error, event or log shows a token.
func (r *Room) learn(k *signedIn) {
	if r.keys.Learn == nil || k == nil || k.Token == nil {
		return
	}
	for _, v := range []string{k.Token.AccessToken, k.Token.RefreshToken, k.ClientSecret} {
		if v != "" {
			r.keys.Learn([]byte(v))
		}
	}
}

func (r *Room) oauthClient(c *wire.Connector) *http.Client {
	return &http.Client{Transport: trip{base: r.guarded(c), c: newConversation()}, Timeout: 30 * time.Second}
}

// signer sends a connector's requests with its sign-in, renews it when it ran out, and says when a person has to sign in.
type signer struct {
	r       *Room
	c       *wire.Connector
	renewed bool
}

// TokenSource is the stored sign-in, or nil without one.
func (s *signer) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	k, err := s.r.kept(ctx, s.c)
	if err != nil || k == nil || k.Token == nil {
		return nil, err
	}
	if !k.Token.Valid() {
		if k, err = s.renew(ctx, k.Token.AccessToken); err != nil {
			return nil, err
		}
	}
	return oauth2.StaticTokenSource(k.Token), nil
}

// renew gets a new token for the refresh token, unless somebody else did meanwhile.
func (s *signer) renew(ctx context.Context, stale string) (*signedIn, error) {
	defer s.r.flows.lock(s.c.Tenant, s.c.Name)()
	k, err := s.r.kept(ctx, s.c)
	if err != nil {
		return nil, err
	}
	if k == nil || k.Token.RefreshToken == "" && k.Token.AccessToken == stale {
		return nil, s.wanted()
	}
	if k.Token.AccessToken != stale && k.Token.Valid() {
		return k, nil
	}
	out := context.WithValue(ctx, oauth2.HTTPClient, s.r.oauthClient(s.c))
	t, err := k.config().TokenSource(out, &oauth2.Token{RefreshToken: k.Token.RefreshToken}).Token()
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		return nil, s.wanted()
	}
	if err != nil {
		return nil, err
	}
	return k, s.r.keep(ctx, s.c, k, t)
}

// Authorize is asked when the server refused a request. A token that it no longer takes is renewed once.
func (s *signer) Authorize(ctx context.Context, _ *http.Request, resp *http.Response) error {
	resp.Body.Close()
	if resp.StatusCode == http.StatusForbidden {
		return nil
	}
	k, err := s.r.kept(ctx, s.c)
	if err != nil {
		return err
	}
	if k == nil || s.renewed {
		return s.wanted()
	}
	s.renewed = true
	_, err = s.renew(ctx, k.Token.AccessToken)
	return err
}

func (s *signer) wanted() error {
	return fault.New(fault.Conflict, "connector", "%s wants a sign-in", s.c.Name).With("auth", "required").
		WithNext("sign in: tandem connector login %s", s.c.Name)
}
