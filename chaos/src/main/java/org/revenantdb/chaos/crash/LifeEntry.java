package org.revenantdb.chaos.crash;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.revenantdb.chaos.oracle.Finding;
import org.revenantdb.chaos.oracle.PromiseEvent;

/** The entries of a child's ledger: its promises, and its phases and findings between them. */
sealed interface LifeEntry {

  /** A report of the subject. */
  record Said(PromiseEvent event) implements LifeEntry {}

  /** A phase begins. */
  record Begins(Phase phase) implements LifeEntry {}

  /** A phase ended without a failure. */
  record Ended(Phase phase, long nanos) implements LifeEntry {}

  /** A check made this finding. */
  record Found(Finding finding) implements LifeEntry {}

  /** The child ends its life because of an exception in the phase that began last, or a finding. */
  record Failed(String kind, String text) implements LifeEntry {}

  /** The subject itself is at fault. */
  record Broken(String reason) implements LifeEntry {}

  /** A place to die at was passed this often since the last report about it. */
  record Passed(String place, long times) implements LifeEntry {}

  /** A change of files that was not recorded, so that no process dies at it. */
  record Missed(String what) implements LifeEntry {}

  /** Something about the recording that the user should know. It changes no result. */
  record Noted(String what) implements LifeEntry {}

  /** The child is about to die at the ordered place. */
  record Dies(String point) implements LifeEntry {}

  /** The child has finished its order. */
  record Done() implements LifeEntry {}

  /** One letter, a number, then texts with their lengths before them. For a promise: its event. */
  default byte[] encode() {
    return switch (this) {
      case Said(PromiseEvent event) -> {
        byte[] bytes = event.encode();
        yield ByteBuffer.allocate(1 + bytes.length).put((byte) 'P').put(bytes).array();
      }
      case Begins(Phase phase) -> texts('B', 0, phase.name());
      case Ended(Phase phase, long nanos) -> texts('E', nanos, phase.name());
      case Found(Finding finding) -> texts('F', 0, finding.kind().name(), finding.detail());
      case Failed(String kind, String text) -> texts('X', 0, kind, text);
      case Broken(String reason) -> texts('H', 0, reason);
      case Passed(String place, long times) -> texts('S', times, place);
      case Missed(String what) -> texts('M', 0, what);
      case Noted(String what) -> texts('N', 0, what);
      case Dies(String point) -> texts('D', 0, point);
      case Done() -> texts('Z', 0, "");
    };
  }

  private static byte[] texts(char letter, long number, String... texts) {
    byte[][] bytes = new byte[texts.length][];
    int size = 1 + Long.BYTES;
    for (int i = 0; i < texts.length; i++) {
      bytes[i] = texts[i].getBytes(StandardCharsets.UTF_8);
      size += Integer.BYTES + bytes[i].length;
    }
    ByteBuffer target = ByteBuffer.allocate(size).put((byte) letter).putLong(number);
    for (byte[] text : bytes) {
      target.putInt(text.length).put(text);
    }
    return target.array();
  }

  /** Reads what {@link #encode} wrote. */
  static LifeEntry decode(byte[] entry) {
    ByteBuffer source = ByteBuffer.wrap(entry);
    char letter = (char) source.get();
    if (letter == 'P') {
      return new Said(PromiseEvent.decode(source));
    }
    long number = source.getLong();
    String first = text(source);
    return switch (letter) {
      case 'B' -> new Begins(Phase.valueOf(first));
      case 'E' -> new Ended(Phase.valueOf(first), number);
      case 'F' -> new Found(new Finding(Finding.Kind.valueOf(first), text(source)));
      case 'X' -> new Failed(first, text(source));
      case 'H' -> new Broken(first);
      case 'S' -> new Passed(first, number);
      case 'M' -> new Missed(first);
      case 'N' -> new Noted(first);
      case 'D' -> new Dies(first);
      case 'Z' -> new Done();
      default -> throw new IllegalArgumentException("no entry begins with " + letter);
    };
  }

  private static String text(ByteBuffer source) {
    byte[] bytes = new byte[source.getInt()];
    source.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
