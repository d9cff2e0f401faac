package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/toxscreen/toxscreen/internal/files"
)

// Key is an API key, known by its hash, and what its caller may do.
type Key struct {
	// Name is the caller's name in logs and feedback.
	Name string
	// Hash is the SHA-256 of the key. The key itself is stored nowhere.
	Hash [sha256.Size]byte
	// Rate limits the texts of the caller, in texts a second on average over Burst
	// texts; 0 for no limit.
	Rate float64
	// Burst is how many texts may come at once, 1 or more with a Rate.
	Burst int
	// JudgeWait replaces [Config.JudgeWait] for all APIs; nil does not.
	JudgeWait *time.Duration
}

// keyPrefix lets scanners for leaked secrets recognize a key.
const keyPrefix = "tox_"

// NewKey returns a new random key and its line for [ParseKeys]. The error is that
// of a name which does not fit into such a line.
func NewKey(name string) (key, line string, err error) {
	key = keyPrefix + rand.Text()
	hash := sha256.Sum256([]byte(key))
	line = name + " sha256:" + hex.EncodeToString(hash[:])
	if _, err := parseKey(line); err != nil {
		return "", "", fmt.Errorf("failed to create a key: %w", err)
	}
	return key, line, nil
}

// ParseKeys reads a file of keys. Each line is a name, "sha256:" and the hash in
// hexadecimal, and any of rate=TEXTS_A_SECOND, burst=TEXTS and judge_wait=TIME,
// separated by spaces. Empty lines and those that begin with # are ignored. Names
// and hashes must be unique, and there must be at least one key; errors name the
// line.
func ParseKeys(data []byte) ([]Key, error) {
	var keys []Key
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, err := parseKey(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		for _, other := range keys {
			if other.Name == key.Name || other.Hash == key.Hash {
				return nil, fmt.Errorf("line %d: the name %s or its hash is there already", number, key.Name)
			}
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no key in it: toxscreen serve key NAME makes one")
	}
	return keys, nil
}

func parseKey(line string) (Key, error) {
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return Key{}, errors.New("a key is a name and sha256:HASH")
	}
	k := Key{Name: fields[0]}
	written, ok := strings.CutPrefix(fields[1], "sha256:")
	hash, err := hex.DecodeString(written)
	if !ok || err != nil || len(hash) != sha256.Size {
		return Key{}, fmt.Errorf("key %s: what follows the name must be sha256: and %d hexadecimal digits", k.Name, 2*sha256.Size)
	}
	copy(k.Hash[:], hash)
	for _, field := range fields[2:] {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "rate":
			if k.Rate, err = strconv.ParseFloat(value, 64); err != nil || !(k.Rate > 0 && k.Rate <= 1e6) {
				return Key{}, fmt.Errorf("key %s: rate must be a number of texts a second, over 0 and up to 1000000, not %q", k.Name, value)
			}
		case "burst":
			if k.Burst, err = strconv.Atoi(value); err != nil || k.Burst < 1 {
				return Key{}, fmt.Errorf("key %s: burst must be a whole number of texts, 1 or more, not %q", k.Name, value)
			}
		case "judge_wait":
			wait, err := time.ParseDuration(value)
			if err != nil || wait < 0 {
				return Key{}, fmt.Errorf("key %s: %q is not a duration: it must be like 300ms or 0s", k.Name, value)
			}
			k.JudgeWait = &wait
		default:
			return Key{}, fmt.Errorf("key %s: unknown setting %q: there are rate, burst and judge_wait", k.Name, name)
		}
	}
	if k.Burst == 0 {
		k.Burst = int(math.Ceil(k.Rate))
	}
	return k, nil
}

// caller is the client of a request, by its key.
type caller struct {
	Key
	limiter *rate.Limiter // nil for no limit
}

// anyone is the caller where no keys are configured.
var anyone = &caller{}

// callers returns a caller for each key. Those with the key and the rate of an
// earlier caller share its limiter.
func callers(keys []Key, earlier []*caller) *[]*caller {
	var all []*caller
	for _, k := range keys {
		c := &caller{Key: k}
		same := func(e *caller) bool { return e.Hash == k.Hash && e.Rate == k.Rate && e.Burst == k.Burst }
		if i := slices.IndexFunc(earlier, same); i >= 0 {
			c.limiter = earlier[i].limiter
		} else if k.Rate > 0 {
			c.limiter = rate.NewLimiter(rate.Limit(k.Rate), max(k.Burst, 1))
		}
		all = append(all, c)
	}
	return &all
}

// KeyOf returns the key in a request, from Authorization: Bearer, x-api-key,
// x-goog-api-key, the query parameter key or the password of Authorization: Basic, in this
// order; "" where there is none. A password is what clients send that are configured with
// nothing but an address, like http://any:KEY@tox.example.org; it comes last since it may
// be one for a proxy.
func KeyOf(r *http.Request) string {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		key = ""
	}
	_, password, _ := r.BasicAuth()
	return cmp.Or(key, r.Header.Get("X-Api-Key"), r.Header.Get("X-Goog-Api-Key"), r.URL.Query().Get("key"), password)
}

// callerOf returns the caller of a request by its key.
func (s *Server) callerOf(r *http.Request) (*caller, error) {
	callers := *s.callers.Load()
	if len(callers) == 0 {
		return anyone, nil
	}
	key := KeyOf(r)
	if key == "" {
		return nil, Fail(WrongKey, "failed to authorize the request: it has no API key: send one as Authorization: Bearer KEY, as x-api-key: KEY, or as ?key=KEY")
	}
	hash := sha256.Sum256([]byte(strings.TrimSpace(key)))
	var found *caller
	for _, c := range callers {
		if subtle.ConstantTimeCompare(hash[:], c.Hash[:]) == 1 {
			found = c
		}
	}
	if found == nil {
		return nil, Fail(WrongKey, "failed to authorize the request: its API key is not valid")
	}
	return found, nil
}

// allow counts a text against the caller's rate limit, or rejects it.
func (c *caller) allow() error {
	if c.limiter == nil {
		return nil
	}
	reserved := c.limiter.Reserve()
	if wait := reserved.Delay(); wait > 0 {
		reserved.Cancel()
		return &Failure{Code: rateLimited, Retry: wait, Message: fmt.Sprintf("failed to score text: the limit of the API key is %g texts a second; try again later", c.Rate)}
	}
	return nil
}

// wait waits until a text is within the caller's rate limit, and counts it.
func (c *caller) wait(ctx context.Context) error {
	if c.limiter == nil {
		return nil
	}
	return c.limiter.Wait(ctx)
}

// ReadKeys reads a file of API keys. The error names the file and the line.
func ReadKeys(file string) (keys []Key, err error) {
	data, err := os.ReadFile(file)
	if err == nil {
		keys, err = ParseKeys(data)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to read the keys of %s: %w", file, files.Cause(err))
	}
	return keys, nil
}
