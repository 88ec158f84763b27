/**
 * The socket of an open database, through which the command reads, checks and copies it.
 *
 * <p>Reading order: {@code DatabaseView} (what the verbs see), {@code AdminRequest} and {@code
 * AdminReply} (the messages), {@code OpenView} and {@code AdminClient} (the view here, and beside),
 * {@code AdminConnection} (answers with an {@code OpenView}), {@code AdminSocket} (the file and the
 * threads), {@code RecordCodec} and {@code AdminChannel} (bytes).
 *
 * <p>The protocol is in {@code README.md} beside this file.
 */
package org.revenantdb.engine.admin;
