package renew

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"tandem/internal/session/agents"
)

// Where sign-ins are renewed, and as whom: the programs' own values.
const (
	claudeIssuer = "https://platform.claude.com/v1/oauth/token"
	claudeClient = "9d1c250a-e61b-44d9-88ed-5944d1962f5e"
	codexIssuer  = "https://auth.openai.com/oauth/token"
	codexClient  = "app_EMoamEEZ73f0CkXaXp7hrann"
	// codexElsewhere is Codex's own variable for another issuer.
	codexElsewhere = "CODEX_REFRESH_TOKEN_URL_OVERRIDE"
)

func (b *Broker) issuer(agent string) string {
	if at := b.Issuers[agent]; at != "" {
		return at
	}
	if agent == agents.ClaudeName {
		return claudeIssuer
	}
	for _, kv := range b.Env {
		if at, ok := strings.CutPrefix(kv, codexElsewhere+"="); ok && at != "" {
			return at
		}
	}
	return codexIssuer
}

// signIn is what a program's file says of its sign-in.
type signIn struct {
	agent, refresh, client string
	scopes                 []string
	ends                   time.Time // zero where nobody can tell
}

// object is JSON in which what is not known stays as it is.
type object map[string]json.RawMessage

// inner is the part of a program's file that holds the tokens.
func inner(agent string) string {
	if agent == agents.ClaudeName {
		return "claudeAiOauth"
	}
	return "tokens"
}

func parse(agent string, data []byte) (signIn, error) {
	var file object
	if err := json.Unmarshal(data, &file); err != nil {
		return signIn{}, err
	}
	s := signIn{agent: agent}
	if len(file[inner(agent)]) == 0 {
		return s, nil
	}
	if agent == agents.ClaudeName {
		var t struct {
			RefreshToken, ClientID string
			ExpiresAt              float64
			Scopes                 []string
		}
		if err := json.Unmarshal(file[inner(agent)], &t); err != nil {
			return s, err
		}
		s.refresh, s.client, s.scopes = t.RefreshToken, t.ClientID, t.Scopes
		if t.ExpiresAt > 0 {
			s.ends = time.UnixMilli(int64(t.ExpiresAt))
		}
		return s, nil
	}
	var t struct {
		Refresh string `json:"refresh_token"`
		Access  string `json:"access_token"`
	}
	if err := json.Unmarshal(file[inner(agent)], &t); err != nil {
		return s, err
	}
	s.refresh, s.ends = t.Refresh, expiry(t.Access)
	return s, nil
}

// expiry is when a token ends that says so itself.
func expiry(token string) time.Time {
	part := strings.Split(token, ".")
	if len(part) != 3 {
		return time.Time{}
	}
	var claims struct {
		Exp int64 `json:"exp"`
	}
	if text, err := base64.RawURLEncoding.DecodeString(part[1]); err != nil || json.Unmarshal(text, &claims) != nil || claims.Exp <= 0 {
		return time.Time{}
	}
	return time.Unix(claims.Exp, 0)
}

// request is what the program itself would ask its issuer.
func (s signIn) request() ([]byte, error) {
	ask := map[string]string{"grant_type": "refresh_token", "refresh_token": s.refresh, "client_id": codexClient}
	if s.agent == agents.ClaudeName {
		ask["client_id"] = claudeClient
		if s.client != "" {
			ask["client_id"] = s.client
		}
		if len(s.scopes) > 0 {
			ask["scope"] = strings.Join(s.scopes, " ")
		}
	}
	return json.Marshal(ask)
}

// renewed is a program's file with what its issuer answered, and when that ends. What renews it next may stay the same.
func renewed(agent string, data, answer []byte, now time.Time) ([]byte, time.Time, error) {
	var got struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		ID      string `json:"id_token"`
		Secs    int64  `json:"expires_in"`
	}
	if err := json.Unmarshal(answer, &got); err != nil || got.Access == "" {
		return nil, time.Time{}, fmt.Errorf("the issuer of %s did not answer with a token", agent)
	}
	var file, tokens object
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, time.Time{}, err
	}
	if err := json.Unmarshal(file[inner(agent)], &tokens); err != nil {
		return nil, time.Time{}, err
	}
	var ends time.Time
	set := func(in object, name string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			panic(err) // strings and numbers
		}
		in[name] = text
	}
	if agent == agents.ClaudeName {
		ends = now.Add(time.Duration(got.Secs) * time.Second)
		set(tokens, "accessToken", got.Access)
		set(tokens, "expiresAt", ends.UnixMilli())
		if got.Refresh != "" {
			set(tokens, "refreshToken", got.Refresh)
		}
	} else {
		ends = expiry(got.Access)
		set(tokens, "access_token", got.Access)
		if got.Refresh != "" {
			set(tokens, "refresh_token", got.Refresh)
		}
		if got.ID != "" {
			set(tokens, "id_token", got.ID)
		}
		set(file, "last_refresh", now.UTC())
	}
	set(file, inner(agent), tokens)
	out, err := json.MarshalIndent(file, "", "  ")
	return out, ends, err
}
