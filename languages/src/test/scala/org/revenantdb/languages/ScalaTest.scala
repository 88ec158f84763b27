package org.revenantdb.languages

import java.io.{ByteArrayInputStream, IOException}
import java.nio.file.Path
import scala.util.Using

import org.junit.jupiter.api.Assertions.{assertEquals, assertNull, assertThrows, assertTrue}
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import org.revenantdb.engine.{Database, DatabaseOptions, Durability, TransactionOptions}

/** The API in Scala, without type arguments and without functions of the user's own. */
class ScalaTest:
  @TempDir
  private var folder: Path = scala.compiletime.uninitialized

  private def bytes(text: String): Array[Byte] = text.getBytes

  private def open(): Database =
    Database.open(folder.resolve("db"), DatabaseOptions.defaults().withPoolBytes(4L << 20))

  @Test
  def rowsAreWrittenAndReadInBlocks(): Unit =
    Using.resource(open()): db =>
      val stock = db.getOrCreateTable("stock")
      db.run(tx => tx.put(stock, bytes("apple"), bytes("12")))
      db.run(TransactionOptions.`lazy`(), tx => tx.put(stock, bytes("pear"), bytes("3")))
      val apples = db.read(tx => String(tx.get(stock, bytes("apple"))))
      assertEquals("12", apples)
      assertNull(db.read(tx => tx.get(stock, bytes("plum"))))
      val count: Long = db.call(tx => tx.count(stock, null, null))
      assertEquals(2L, count)

  @Test
  def aBlockMayThrowWhatItWants(): Unit =
    Using.resource(open()): db =>
      val files = db.getOrCreateTable("files")
      db.run(tx => tx.put(files, bytes("large"), ByteArrayInputStream(new Array[Byte](100000))))
      assertThrows(classOf[IOException], () => db.run(_ => throw IOException("mine")))
      val size = db.read(tx => tx.open(files, bytes("large")).readAllBytes().length)
      assertEquals(100000, size)

  @Test
  def cursorsAndSequences(): Unit =
    Using.resource(open()): db =>
      val events = db.getOrCreateTable("events")
      db.run(tx => for i <- 1 to 9 do tx.put(events, bytes(s"e$i"), bytes(s"v$i")))
      val keys = db.read: tx =>
        Using.resource(tx.scan(events, bytes("e3"), null)): cursor =>
          Iterator.continually(cursor).takeWhile(_.next()).map(c => String(c.key())).toList
      assertEquals(List("e3", "e4", "e5", "e6", "e7", "e8", "e9"), keys)
      assertEquals(db.createTable("plain"), db.table("plain"))
      val ids = db.createSequence("ids")
      assertEquals(ids, db.getOrCreateSequence("ids"))
      assertEquals(1L, ids.next())
      assertEquals(2L, ids.next(Durability.LAZY))
      assertTrue(db.check().isSound)
