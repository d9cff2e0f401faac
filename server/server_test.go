package server_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/toxscreen/toxscreen/server/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The tests of what all formats share send most of their requests in the native one.
type (
	classify = servertest.Classify
	english  = servertest.English
	reply    = servertest.Reply
)

var (
	words  = servertest.Words
	scores = servertest.Scores
	insult = servertest.Insult
	judged = servertest.Judged
	serve  = servertest.Serve
	newKey = servertest.NewKey
)
