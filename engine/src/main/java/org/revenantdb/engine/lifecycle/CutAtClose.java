package org.revenantdb.engine.lifecycle;

import org.revenantdb.engine.page.Page;
import org.revenantdb.recovery.file.FileException;
import org.revenantdb.recovery.file.StorageFile;

/**
 * Cuts the data file at the end of a clean close: docs/protocols.md §63. On the stack of open
 * resources it lies below the log and the pool, so nothing uses the file any more, and a failure
 * stops nothing.
 *
 * <p>Threads: one at a time.
 */
final class CutAtClose implements AutoCloseable {
  private final StorageFile data;
  private int end;

  CutAtClose(StorageFile data) {
    this.data = data;
  }

  /**
   * Called when both control slots have the new size.
   *
   * @param pages the number of pages that stay; 0 if the file is not cut
   */
  void to(int pages) {
    end = pages;
  }

  @Override
  public void close() {
    if (end == 0) {
      return;
    }
    try {
      data.truncate((long) end * Page.SIZE);
    } catch (FileException staysLonger) {
      // A crash leaves the same: the pages behind the end are free.
    }
  }
}
