package org.revenantdb.chaos.oracle;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.PromiseEvent.AllDurable;
import org.revenantdb.chaos.oracle.PromiseEvent.By;
import org.revenantdb.chaos.oracle.PromiseEvent.Crash;
import org.revenantdb.chaos.oracle.PromiseEvent.OfGroup;
import org.revenantdb.chaos.oracle.PromiseEvent.OfWrite;
import org.revenantdb.chaos.oracle.PromiseEvent.Put;
import org.revenantdb.chaos.oracle.PromiseEvent.Single;
import org.revenantdb.chaos.oracle.PromiseEvent.Step;

/** Events as bytes. */
final class PromiseCodec {
  /*
   * All numbers big-endian.
   *
   *   tag     1   00..0F  OfWrite, by Single.tag       10..1F  OfGroup, by Step.tag
   *               20      Put      21  AllDurable      30      Crash, 31 by death
   *   -- not for Crash --
   *   place   8
   *   thread  8
   *   name    bytes
   *   -- OfGroup, Put --
   *   group   8
   *   -- OfWrite, Put --
   *   key     bytes
   *   value   bytes, length -1 for nothing
   *
   * where bytes = length 4, content.
   */

  private static final int PUT = 0x20;
  private static final int ALL_DURABLE = 0x21;
  private static final int CRASH = 0x30;
  private static final int DEATH = 0x31;

  private static final Single[] SINGLES = Single.values();
  private static final Step[] STEPS = Step.values();

  private PromiseCodec() {}

  static byte[] encode(PromiseEvent event) {
    return switch (event) {
      case OfWrite(By by, Single what, Bytes key, Bytes value) ->
          encode(what.tag, by, null, key, value);
      case OfGroup(By by, long group, Step step) -> encode(step.tag, by, group, null, null);
      case Put(By by, long group, Bytes key, Bytes value) -> encode(PUT, by, group, key, value);
      case AllDurable(By by) -> encode(ALL_DURABLE, by, null, null, null);
      case Crash(boolean death) -> new byte[] {(byte) (death ? DEATH : CRASH)};
    };
  }

  /** Without a key there is no value either. */
  private static byte[] encode(
      int tag, By by, @Nullable Long group, @Nullable Bytes key, @Nullable Bytes value) {
    Bytes name = Bytes.of(by.name());
    int length = 1 + 2 * Long.BYTES + length(name);
    length += group == null ? 0 : Long.BYTES;
    length += key == null ? 0 : length(key) + length(value);
    byte[] encoded = new byte[length];
    ByteBuffer target = ByteBuffer.wrap(encoded);
    target.put((byte) tag).putLong(by.place()).putLong(by.thread());
    put(target, name);
    if (group != null) {
      target.putLong(group);
    }
    if (key != null) {
      put(target, key);
      put(target, value);
    }
    return encoded;
  }

  private static int length(@Nullable Bytes bytes) {
    return Integer.BYTES + (bytes == null ? 0 : bytes.length());
  }

  private static void put(ByteBuffer target, @Nullable Bytes bytes) {
    if (bytes == null) {
      target.putInt(-1);
    } else {
      target.putInt(bytes.length());
      bytes.putInto(target);
    }
  }

  static PromiseEvent decode(ByteBuffer source) {
    ByteOrder order = source.order();
    source.order(ByteOrder.BIG_ENDIAN);
    try {
      return decodeBigEndian(source);
    } catch (BufferUnderflowException e) {
      throw new IllegalArgumentException("a promise event is cut short", e);
    } finally {
      source.order(order);
    }
  }

  private static PromiseEvent decodeBigEndian(ByteBuffer source) {
    int tag = source.get() & 0xFF;
    if (tag == CRASH || tag == DEATH) {
      return new Crash(tag == DEATH);
    }
    Single single = find(SINGLES, what -> what.tag == tag);
    Step step = find(STEPS, what -> what.tag == tag);
    if (single == null && step == null && tag != PUT && tag != ALL_DURABLE) {
      throw new IllegalArgumentException("no promise event has the tag " + tag);
    }
    By by = new By(source.getLong(), source.getLong(), some(source).text());
    if (single != null) {
      return new OfWrite(by, single, some(source), take(source));
    }
    if (step != null) {
      return new OfGroup(by, source.getLong(), step);
    }
    return tag == PUT
        ? new Put(by, source.getLong(), some(source), take(source))
        : new AllDurable(by);
  }

  private static <T> @Nullable T find(T[] all, Predicate<T> wanted) {
    for (T one : all) {
      if (wanted.test(one)) {
        return one;
      }
    }
    return null;
  }

  private static Bytes some(ByteBuffer source) {
    Bytes bytes = take(source);
    if (bytes == null) {
      throw new IllegalArgumentException("a promise event lacks its key or its thread's name");
    }
    return bytes;
  }

  private static @Nullable Bytes take(ByteBuffer source) {
    int length = source.getInt();
    if (length == -1) {
      return null;
    }
    if (length < 0 || length > source.remaining()) {
      throw new IllegalArgumentException("a promise event is cut short: " + length + " bytes");
    }
    return Bytes.take(source, length);
  }
}
