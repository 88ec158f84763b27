package org.revenantdb.chaos.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.oracle.PromiseLog;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Verdict;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Trace;
import org.revenantdb.chaos.trace.TraceClock;

/** A recording from another JVM is the one that was made there. */
class RecordingCodecTest {

  private final List<Operation> operations = new ArrayList<>();

  private Operation.Origin origin() {
    CallStack stack = new CallStack(List.of(Thread.currentThread().getStackTrace()).subList(0, 3));
    return new Operation.Origin(operations.size() + 1, 5 * operations.size(), "a thread", stack);
  }

  private static DiskImage image() {
    DiskImage image = new DiskImage();
    image.create(7, /* directory= */ true);
    image.link(DiskImage.ROOT, "dir", 7);
    image.create(9, /* directory= */ false);
    image.link(7, "a name", 9);
    image.link(DiskImage.ROOT, "another", 9);
    image.file(9).write(9_000, ByteBuffer.wrap(new byte[] {1, 2, 3}));
    image.file(9).setSize(20_001);
    image.create(12, /* directory= */ false); // no name leads to it
    return image;
  }

  private static Recording copy(Recording recording) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    RecordingCodec.write(recording, new DataOutputStream(bytes));
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes.toByteArray()));
    Recording copy = RecordingCodec.read(in);
    assertEquals(0, in.available());
    return copy;
  }

  @Test
  void a_recording_is_the_same_on_the_other_side_with_every_kind_of_operation() throws IOException {
    operations.add(new Operation.Create(origin(), 1, /* directory= */ true, 0, "new"));
    operations.add(new Operation.Link(origin(), 9, 1, "link"));
    operations.add(new Operation.Delete(origin(), 9, 7, "a name"));
    operations.add(new Operation.Rename(origin(), 9, 1, "link", 0, "moved", Operation.NO_NODE));
    operations.add(new Operation.Write(origin(), 9, 1L << 40, new byte[] {4, 5}));
    operations.add(new Operation.Truncate(origin(), 9, 17));
    operations.add(new Operation.Force(origin(), 9, 3, /* metadata= */ true, 5));
    operations.add(new Operation.ForceFailed(origin(), 9, 4));
    String longText = "x".repeat(100_000);
    Trace trace = new Trace(image(), operations, List.of("a gap"), List.of(longText));
    Recording recording =
        new Recording(trace, new PromiseLog(), Verdict.NOT_MEASURED, longText, 99, 3);
    Recording copy = copy(recording);
    assertEquals(recording.verdict(), copy.verdict());
    assertEquals(recording.reason(), copy.reason());
    assertEquals(99, copy.end());
    assertEquals(3, copy.from());
    assertEquals(trace.gaps(), copy.trace().gaps());
    assertEquals(trace.escapes(), copy.trace().escapes());
    assertEquals(operations.size(), copy.trace().operations().size());
    for (int i = 0; i < operations.size(); i++) {
      assertSame(operations.get(i), copy.trace().operations().get(i));
    }
    DiskImage start = copy.trace().start();
    assertEquals(image().hash(), start.hash());
    assertEquals(9, start.lookup(DiskImage.ROOT, "another"));
    assertEquals(9, start.lookup(7, "a name"));
    assertTrue(start.exists(12));
  }

  @Test
  void a_promise_is_told_with_its_stack_on_the_other_side() throws IOException {
    PromiseLog log = new PromiseLog().withStacks();
    Promises promises = log.promises(new TraceClock(), 1);
    for (int i = 0; i < 3; i++) {
      promises.durable("a", "value " + i);
    }
    Trace trace = new Trace(image(), operations, List.of(), List.of());
    PromiseLog copy = copy(new Recording(trace, log, Verdict.SURVIVED, "", 99, 0)).promises();
    String last = copy.lastBefore(Long.MAX_VALUE);
    assertTrue(last.contains("a_promise_is_told_with_its_stack_on_the_other_side("), last);
    assertEquals(log.lastBefore(Long.MAX_VALUE), last);
  }

  private static void assertSame(Operation expected, Operation copy) {
    assertEquals(expected.origin().toString(), copy.origin().toString());
    if (expected instanceof Operation.Write one && copy instanceof Operation.Write other) {
      assertEquals(one.node(), other.node());
      assertEquals(one.offset(), other.offset());
      assertArrayEquals(one.data(), other.data());
    } else {
      // Frames are equal if their texts are.
      assertEquals(expected.toString(), copy.toString());
    }
  }
}
