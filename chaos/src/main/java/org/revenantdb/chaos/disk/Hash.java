package org.revenantdb.chaos.disk;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Fast hashes of 64 bits that distinguish images. They need no protection against attacks. */
final class Hash {

  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private Hash() {}

  /** Every bit of the result depends on every bit of the value (the finalizer of SplitMix64). */
  static long mix(long value) {
    long z = value + 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** The hash of a block, a multiple of 8 bytes long, at its place. */
  static long of(byte[] block, long place) {
    long hash = mix(place);
    for (int i = 0; i < block.length; i += Long.BYTES) {
      hash = (hash ^ (long) LONGS.get(block, i)) * 0x9E3779B97F4A7C15L;
      hash ^= hash >>> 32;
    }
    return mix(hash);
  }

  static long of(String text) {
    long hash = text.length();
    for (int i = 0; i < text.length(); i++) {
      hash = mix(hash ^ text.charAt(i));
    }
    return hash;
  }
}
