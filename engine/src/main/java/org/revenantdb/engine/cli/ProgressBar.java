package org.revenantdb.engine.cli;

import java.io.PrintWriter;
import org.revenantdb.engine.BackupProgress;
import org.revenantdb.engine.RestoreProgress;

/** Shows on a terminal how far something is. */
final class ProgressBar {
  private ProgressBar() {}

  /** Always true: the command ends nothing. */
  static boolean show(PrintWriter err, RestoreProgress progress) {
    return show(err, progress.bytes(), progress.bytesToWrite(), "bytes");
  }

  /** Always true: the command ends nothing. */
  static boolean show(PrintWriter err, BackupProgress progress) {
    return show(err, progress.pages(), progress.pagesToCopy(), "pages");
  }

  private static boolean show(PrintWriter err, long done, long all, String unit) {
    if (all > 0) {
      err.printf("\r%3d %% of %,d %s", 100 * done / all, all, unit);
      err.flush();
    }
    return true;
  }
}
