package org.revenantdb.chaos.oracle;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
   *   tag     1   00..0F  OfWrite, tag = Single        10..1F  OfGroup, tag = 10 + Step
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

  private static final int GROUP = 0x10;
  private static final int PUT = 0x20;
  private static final int ALL_DURABLE = 0x21;
  private static final int CRASH = 0x30;
  private static final int DEATH = 0x31;

  private static final Single[] SINGLES = Single.values();
  private static final Step[] STEPS = Step.values();

  private PromiseCodec() {}

  static byte[] encode(PromiseEvent event) {
    return switch (event) {
      case OfWrite(By by, Single what, Bytes key, Bytes value) -> {
        Bytes name = Bytes.of(by.name());
        ByteBuffer target = begin(what.ordinal(), by, name, length(key) + length(value));
        put(target, key);
        put(target, value);
        yield target.array();
      }
      case OfGroup(By by, long group, Step step) ->
          begin(GROUP + step.ordinal(), by, Bytes.of(by.name()), Long.BYTES).putLong(group).array();
      case Put(By by, long group, Bytes key, Bytes value) -> {
        Bytes name = Bytes.of(by.name());
        ByteBuffer target = begin(PUT, by, name, Long.BYTES + length(key) + length(value));
        target.putLong(group);
        put(target, key);
        put(target, value);
        yield target.array();
      }
      case AllDurable(By by) -> begin(ALL_DURABLE, by, Bytes.of(by.name()), 0).array();
      case Crash(boolean death) -> new byte[] {(byte) (death ? DEATH : CRASH)};
    };
  }

  private static ByteBuffer begin(int tag, By by, Bytes name, int more) {
    ByteBuffer target = ByteBuffer.allocate(1 + 2 * Long.BYTES + length(name) + more);
    target.put((byte) tag).putLong(by.place()).putLong(by.thread());
    put(target, name);
    return target;
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
    boolean single = tag < SINGLES.length;
    boolean step = tag >= GROUP && tag < GROUP + STEPS.length;
    if (!single && !step && tag != PUT && tag != ALL_DURABLE) {
      throw new IllegalArgumentException("no promise event has the tag " + tag);
    }
    By by = new By(source.getLong(), source.getLong(), some(source).text());
    if (single) {
      return new OfWrite(by, SINGLES[tag], some(source), take(source));
    }
    if (step) {
      return new OfGroup(by, source.getLong(), STEPS[tag - GROUP]);
    }
    return tag == PUT
        ? new Put(by, source.getLong(), some(source), take(source))
        : new AllDurable(by);
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
