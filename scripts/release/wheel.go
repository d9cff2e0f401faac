package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// wheel makes the Python package with the program, by the package's own build.
func wheel(ctx context.Context, p program, out string, created time.Time) error {
	described, err := json.Marshal(p)
	if err != nil {
		return err
	}
	const folder = "python/build" // where python/hatch_build.py takes it from
	if err := errors.Join(os.RemoveAll(folder), os.CopyFS(folder, os.DirFS(p.dir)), os.WriteFile(filepath.Join(folder, "built.json"), described, 0o644)); err != nil {
		return fmt.Errorf("failed to place the program in the Python package: %w", err)
	}
	env := []string{"TOXSCREEN_STAGED=1", fmt.Sprintf("SOURCE_DATE_EPOCH=%d", created.Unix())}
	_, err = command(ctx, env, "python3", "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-cache-dir", "--wheel-dir", out, "./python")
	return err
}
