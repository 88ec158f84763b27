package org.revenantdb.engine.lifecycle;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.archive.FollowedView;
import org.revenantdb.engine.page.Page;
import org.revenantdb.recovery.restart.AnalysisResult;

/** A database that a follower has opened read-only, in a directory that it has locked. */
public final class FollowerView implements FollowedView {
  private final OpenDatabase open;
  private final int[] lacking;

  /** Opens it, on a thread of the engine. */
  public FollowerView(Path directory, DatabaseOptions options) {
    open = OpenDatabase.openView(directory, options);
    lacking = open.pendingPages();
  }

  /** What users work with. */
  public OpenDatabase open() {
    return open;
  }

  @Override
  public AnalysisResult found() {
    return open.found();
  }

  @Override
  public int[] lacking() {
    return lacking;
  }

  @Override
  public void copy(int pageId, MemorySegment to) {
    open.copyPage(pageId, to.asSlice(0, Page.SIZE));
  }

  @Override
  public void close() {
    open.close();
  }
}
