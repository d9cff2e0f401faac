package screen

import (
	"context"
	"errors"

	"github.com/toxscreen/toxscreen/judge/selftest"
)

// SelfTest tests the judge beside the classifier in use; see [selftest.Setup.Run].
func (s *Screener) SelfTest(ctx context.Context, progress func(selftest.Progress)) (selftest.Outcome, error) {
	if s.asked == nil {
		return selftest.Outcome{}, errors.New("failed to test the judge: none is configured")
	}
	a := s.asked
	return selftest.Setup{Judge: a.judge, Classifier: a.classifier, Fusion: a.fusion, Folder: a.folder}.Run(ctx, progress)
}
