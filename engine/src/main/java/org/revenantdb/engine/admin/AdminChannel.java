package org.revenantdb.engine.admin;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection: messages of at most 64 MiB, each behind its length in 4 bytes.
 *
 * <p>Both ends begin with {@link #MAGIC}, so that an end of another version, or another program, is
 * told apart before it is answered.
 *
 * <p>Threads: one; another one may close it, which ends a call that waits.
 */
final class AdminChannel implements AutoCloseable {
  /** "RVNA" and the version of the protocol. */
  private static final long MAGIC = 0x52564E41_00000003L;

  private static final int LONGEST = 64 << 20;

  private final SocketChannel channel;
  private final DataInputStream in;
  private final DataOutputStream out;

  AdminChannel(SocketChannel channel) {
    this.channel = channel;
    in = new DataInputStream(new BufferedInputStream(Channels.newInputStream(channel), 1 << 16));
    out =
        new DataOutputStream(new BufferedOutputStream(Channels.newOutputStream(channel), 1 << 16));
  }

  /** Exchanges the greetings. */
  void greet() throws IOException {
    try {
      out.writeLong(MAGIC);
      out.flush();
    } catch (IOException closed) {
      // The other end has closed it already, and what it has sent says why.
    }
    long other = in.readLong();
    if (other != MAGIC) {
      throw new AdminException(
          other >>> Integer.SIZE == MAGIC >>> Integer.SIZE
              ? "the other process speaks version "
                  + (int) other
                  + " of the protocol, this one version "
                  + (int) MAGIC
                  + "; use the command of the same version of RevenantDB"
              : "this is not the socket of a database");
    }
  }

  /** Answers a connection that is not served, whatever it is going to ask. */
  void refuse(String why) throws IOException {
    out.writeLong(MAGIC);
    send(new AdminReply.Failed(why));
    out.flush();
  }

  void send(AdminRequest request) throws IOException {
    write(RecordCodec.encode((Record) request, AdminRequest.class));
    out.flush();
  }

  /** Sends a part of an answer; it may stay in memory until {@link #flush}. */
  void send(AdminReply reply) throws IOException {
    write(RecordCodec.encode((Record) reply, AdminReply.class));
  }

  void flush() throws IOException {
    out.flush();
  }

  /** The next request; null if the other end has closed the connection. */
  @Nullable AdminRequest request() throws IOException {
    byte[] message = read();
    return message == null ? null : RecordCodec.decode(message, AdminRequest.class);
  }

  AdminReply reply() throws IOException {
    byte[] message = read();
    if (message == null) {
      throw new AdminException("the process that has the database open has closed the connection");
    }
    return RecordCodec.decode(message, AdminReply.class);
  }

  private void write(byte[] message) throws IOException {
    if (message.length > LONGEST) {
      throw new AdminException("the answer has more than " + LONGEST + " bytes");
    }
    out.writeInt(message.length);
    out.write(message);
  }

  private byte @Nullable [] read() throws IOException {
    int length;
    try {
      length = in.readInt();
    } catch (EOFException closed) {
      return null;
    }
    if (length < 0 || length > LONGEST) {
      throw new IOException("a message of " + length + " bytes");
    }
    byte[] message = in.readNBytes(length);
    if (message.length < length) {
      throw new EOFException("the connection has ended within a message");
    }
    return message;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
