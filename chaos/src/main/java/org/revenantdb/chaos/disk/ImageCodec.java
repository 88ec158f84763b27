package org.revenantdb.chaos.disk;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * An image as bytes, for another JVM: nodes keep their numbers, and zeros take no room.
 *
 * <p>Only for JVMs with the same version of this class.
 */
public final class ImageCodec {

  private static final byte[] ZEROS = new byte[FileContent.BLOCK];
  private static final int END = -1;

  private ImageCodec() {}

  /**
   * Writes an image.
   *
   * @param image is not changed
   * @param target receives it
   * @throws IOException if it cannot be written
   */
  public static void write(DiskImage image, DataOutput target) throws IOException {
    List<Integer> nodes = image.nodes();
    target.writeInt(nodes.size());
    for (int node : nodes) {
      target.writeInt(node);
      target.writeBoolean(image.isDirectory(node));
      if (image.isDirectory(node)) {
        Map<String, Integer> entries = image.entries(node);
        target.writeInt(entries.size());
        for (Map.Entry<String, Integer> entry : entries.entrySet()) {
          target.writeUTF(entry.getKey());
          target.writeInt(entry.getValue());
        }
      } else {
        write(image.file(node), target);
      }
    }
  }

  private static void write(FileContent content, DataOutput target) throws IOException {
    long size = content.size();
    target.writeLong(size);
    for (long at = 0; at < size; at += FileContent.BLOCK) {
      byte[] part = content.bytes(at, (int) Math.min(FileContent.BLOCK, size - at));
      if (!Arrays.equals(part, 0, part.length, ZEROS, 0, part.length)) {
        target.writeInt((int) (at / FileContent.BLOCK));
        target.write(part);
      }
    }
    target.writeInt(END);
  }

  /**
   * Reads an image.
   *
   * @param source written by {@link #write}
   * @return an equal image
   * @throws IOException if it cannot be read
   */
  public static DiskImage read(DataInput source) throws IOException {
    DiskImage image = new DiskImage();
    for (int left = source.readInt(); left > 0; left--) {
      int node = source.readInt();
      boolean directory = source.readBoolean();
      if (node != DiskImage.ROOT) {
        image.create(node, directory);
      }
      if (directory) {
        for (int entries = source.readInt(); entries > 0; entries--) {
          String name = source.readUTF();
          image.link(node, name, source.readInt());
        }
      } else {
        readInto(image.file(node), source);
      }
    }
    return image;
  }

  private static void readInto(FileContent content, DataInput source) throws IOException {
    long size = source.readLong();
    content.setSize(size);
    for (int block = source.readInt(); block != END; block = source.readInt()) {
      long at = (long) block * FileContent.BLOCK;
      byte[] part = new byte[(int) Math.min(FileContent.BLOCK, size - at)];
      source.readFully(part);
      content.write(at, ByteBuffer.wrap(part));
    }
  }
}
