package perspective

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
)

// BatchCall is one request of a batch.
type BatchCall struct {
	// ID is the client's Content-ID, with its brackets. HELM's is the whole text,
	// percent-encoded.
	ID     string
	Method string
	Target string // path and query
	Body   []byte
}

// BatchReply is the answer to a [BatchCall].
type BatchReply struct {
	ID     string // of the call
	Status int
	Header http.Header // beside the type and the length of the body
	Body   []byte      // JSON
}

// ReadBatch reads the body of a batch: multipart/mixed, where each part is
// an HTTP request. A batch with more than most calls is an error, as is an empty one.
// The error is a [*Error].
func ReadBatch(contentType string, body []byte, most int) ([]BatchCall, error) {
	media, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || media != "multipart/mixed" || parameters["boundary"] == "" {
		return nil, batchError("its Content-Type must be multipart/mixed with a boundary")
	}
	// The reader below does not notice a body that breaks off in a header.
	if !bytes.Contains(body, []byte("--"+parameters["boundary"]+"--")) {
		return nil, batchError("it breaks off")
	}
	var calls []BatchCall
	for parts := multipart.NewReader(bytes.NewReader(body), parameters["boundary"]); ; {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, batchError(fmt.Sprintf("part %d has an invalid header", len(calls)+1))
		}
		if len(calls) == most {
			return nil, batchError(fmt.Sprintf("it has more than %d calls; send fewer at once", most))
		}
		call, err := readCall(part)
		if err != nil {
			return nil, batchError(fmt.Sprintf("part %d %v", len(calls)+1, err))
		}
		calls = append(calls, call)
	}
	if len(calls) == 0 {
		return nil, batchError("it has no calls")
	}
	return calls, nil
}

func batchError(why string) *Error {
	return newError(http.StatusBadRequest, "Failed to parse batch request: "+why)
}

func readCall(part *multipart.Part) (BatchCall, error) {
	call := BatchCall{ID: part.Header.Get("Content-ID")}
	if media, _, err := mime.ParseMediaType(part.Header.Get("Content-Type")); err != nil || media != "application/http" {
		return call, errors.New("must have the Content-Type application/http")
	}
	in := bufio.NewReader(part)
	request, err := http.ReadRequest(in)
	if err != nil {
		return call, errors.New("is not an HTTP request") // the cause would quote it, and it may be a text
	}
	call.Method, call.Target = request.Method, request.URL.RequestURI()
	// The rest of the part is the body, whatever its Content-Length: Python's client
	// counts characters.
	if call.Body, err = io.ReadAll(in); err != nil {
		return call, errors.New("cannot be read")
	}
	return call, nil
}

// WriteBatch returns the answer to a batch and its Content-Type. The
// replies are in the order of the calls.
func WriteBatch(replies []BatchReply) (contentType string, body []byte) {
	var out bytes.Buffer
	parts := multipart.NewWriter(&out)
	for _, reply := range replies {
		header := textproto.MIMEHeader{"Content-Type": {"application/http"}}
		if reply.ID != "" {
			header["Content-ID"] = []string{replyID(reply.ID)}
		}
		part, err := parts.CreatePart(header)
		if err == nil {
			_, err = fmt.Fprintf(part, "HTTP/1.1 %d %s\r\nContent-Type: application/json; charset=UTF-8\r\nContent-Length: %d\r\n", reply.Status, http.StatusText(reply.Status), len(reply.Body))
		}
		if err == nil {
			err = reply.Header.Write(part)
		}
		if err == nil {
			_, err = fmt.Fprintf(part, "\r\n%s", reply.Body)
		}
		if err != nil {
			panic(err) // a buffer takes everything
		}
	}
	if err := parts.Close(); err != nil {
		panic(err)
	}
	return "multipart/mixed; boundary=" + parts.Boundary(), out.Bytes()
}

// replyID returns Google's ID of the answer to a call: <response-ID>.
// Python's client finds the call by the part after " + ".
func replyID(id string) string {
	inner, bracketed := strings.CutPrefix(id, "<")
	if bracketed {
		inner = strings.TrimSuffix(inner, ">")
	}
	return "<response-" + inner + ">"
}
