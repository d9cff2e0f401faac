package server

import (
	"net/http"
	"strings"
)

// notMeasuredHeader lists what a request asks about and nothing measured, in the words of
// its format: attributes or categories, and parts of the request like images. Formats with
// room for a field of ours have the same list there. It is absent where nothing is left
// out.
const notMeasuredHeader = "Toxscreen-Not-Measured"

// showNotMeasured sets the header.
func showNotMeasured(header http.Header, names []string) {
	if len(names) > 0 {
		header.Set(notMeasuredHeader, strings.Join(names, ", "))
	}
}

// checkImages refuses images, which nothing measures, unless the server passes over them.
// names are those of the parts of the request that are images.
func (s *Server) checkImages(names []string) error {
	if len(names) == 0 || s.config.IgnoreImages {
		return nil
	}
	return fail(unsupported, "failed to read %s: images are not measured, only text is; leave it out, or let the server pass over images with its setting ignore_images", names[0])
}
