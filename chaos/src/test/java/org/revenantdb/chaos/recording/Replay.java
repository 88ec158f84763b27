package org.revenantdb.chaos.recording;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;

/** Repeats the operations of a trace in the simplest way. */
public final class Replay {

  private Replay() {}

  /** The start with every operation applied to it in order. */
  public static DiskImage of(Trace trace) {
    DiskImage image = trace.start().fork();
    long last = 0;
    for (Operation operation : trace.operations()) {
      assertTrue(operation.seq() > last, "places must grow: " + operation);
      last = operation.seq();
      apply(operation, image);
    }
    return image;
  }

  private static void apply(Operation operation, DiskImage image) {
    switch (operation) {
      case Operation.Create create -> {
        image.create(create.node(), create.directory());
        assertEquals(null, image.lookup(create.parent(), create.name()), "name is taken");
        image.link(create.parent(), create.name(), create.node());
      }
      case Operation.Link link -> image.link(link.parent(), link.name(), link.node());
      case Operation.Delete delete -> {
        assertEquals(delete.node(), image.lookup(delete.parent(), delete.name()));
        image.unlink(delete.parent(), delete.name());
      }
      case Operation.Rename rename -> {
        assertEquals(rename.node(), image.lookup(rename.fromParent(), rename.fromName()));
        Integer replaced = image.lookup(rename.toParent(), rename.toName());
        assertEquals(rename.replaced(), replaced == null ? Operation.NO_NODE : replaced);
        image.unlink(rename.fromParent(), rename.fromName());
        image.link(rename.toParent(), rename.toName(), rename.node());
      }
      case Operation.Write write ->
          image.file(write.node()).write(write.offset(), ByteBuffer.wrap(write.data()));
      case Operation.Truncate cut -> {
        assertTrue(cut.size() < image.file(cut.node()).size(), "only what shrinks is recorded");
        image.file(cut.node()).setSize(cut.size());
      }
      case Operation.Force force -> assertTrue(force.since() < force.seq());
      case Operation.ForceFailed failed -> assertTrue(failed.since() < failed.seq());
    }
  }

  /** The replayed trace equals the content of the directory. */
  public static void assertExact(Trace trace, Path directory) throws IOException {
    assertSame(DiskImage.of(directory), of(trace));
  }

  /** Two trees are equal; if not, the message says where they differ. */
  static void assertSame(DiskImage expected, DiskImage actual) {
    assertEquals(summary(expected), summary(actual));
    assertEquals(expected.hash(), actual.hash());
  }

  private static Map<String, String> summary(DiskImage image) {
    SortedMap<String, String> result = new TreeMap<>();
    image
        .paths()
        .forEach((path, node) ->
            result.put(
                path,
                image.isDirectory(node)
                    ? "directory"
                    : image.file(node).size()
                        + " bytes, hash "
                        + Long.toHexString(image.file(node).hash())));
    return result;
  }
}
