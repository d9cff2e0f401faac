package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// readyTimeout is how long [Ready] waits for the answer, and maxReadiness how many bytes of it
// are read.
const (
	readyTimeout = 5 * time.Second
	maxReadiness = 64 << 10
)

// Ready asks the server at an address whether it is ready, and returns the body of its
// GET /readyz. The address is one that `toxscreen serve` prints: http://HOST:PORT,
// https://HOST:PORT or unix:PATH; without HOST it is on this machine. It is an error if the
// server does not answer within five seconds, or is not ready.
//
// With https every certificate is accepted: it may be for the names under which clients
// know the server, and the request has no secret. Ready ignores proxies and follows no
// redirection. It may be called concurrently.
func Ready(ctx context.Context, address string) (body []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("failed to ask %s whether it is ready: %w", address, err)
		}
	}()
	transport := &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
	}
	base := address
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		base = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" {
		return nil, errors.New("this is not an address: it must be like http://127.0.0.1:8080 or unix:/run/toxscreen.sock")
	}
	if u.Hostname() == "" {
		u.Host = "localhost" + u.Host
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.JoinPath("readyz").String(), nil)
	if err != nil {
		return nil, err
	}
	// RoundTrip, unlike a client, follows no redirection.
	response, err := transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxReadiness))
	if err != nil {
		return nil, err
	}
	var answer readiness
	switch err := json.Unmarshal(body, &answer); {
	case err == nil && answer.Ready && response.StatusCode == http.StatusOK:
		return body, nil
	case err == nil && answer.Model != "":
		return nil, errors.New("it is about to end")
	default:
		return nil, fmt.Errorf("it is not a server of toxscreen: it answers %s", response.Status)
	}
}
