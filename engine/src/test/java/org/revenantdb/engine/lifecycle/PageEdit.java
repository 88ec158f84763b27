package org.revenantdb.engine.lifecycle;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.revenantdb.engine.page.Page;
import org.revenantdb.recovery.format.PageChecksum;

/** Reads and changes pages of a closed database, and makes the checksum good again. */
public final class PageEdit {
  private PageEdit() {}

  /** Changes a page. */
  public static void change(Path directory, int id, Consumer<MemorySegment> change)
      throws IOException {
    MemorySegment page = page(directory, id);
    change.accept(page);
    PageChecksum.seal(page);
    try (RandomAccessFile file = open(directory, "rw")) {
      file.seek((long) id * Page.SIZE);
      file.write(Page.bytes(page, 0, Page.SIZE));
    }
  }

  /** A copy of a page. */
  public static MemorySegment page(Path directory, int id) throws IOException {
    byte[] bytes = new byte[Page.SIZE];
    try (RandomAccessFile file = open(directory, "r")) {
      file.seek((long) id * Page.SIZE);
      file.readFully(bytes);
    }
    return MemorySegment.ofArray(bytes);
  }

  /** The pages for which this holds, in order; free ones with their old bytes included. */
  public static List<Integer> pages(Path directory, Predicate<MemorySegment> which)
      throws IOException {
    int count;
    try (RandomAccessFile file = open(directory, "r")) {
      count = (int) (file.length() / Page.SIZE);
    }
    List<Integer> found = new ArrayList<>();
    for (int id = 3; id < count; id++) {
      if (which.test(page(directory, id))) {
        found.add(id);
      }
    }
    return found;
  }

  /** The first page of a type. */
  public static int first(Path directory, int type) throws IOException {
    return pages(directory, page -> Page.type(page) == type).getFirst();
  }

  private static RandomAccessFile open(Path directory, String mode) throws IOException {
    return new RandomAccessFile(directory.resolve(DatabaseFiles.DATA).toFile(), mode);
  }
}
