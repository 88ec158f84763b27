package org.revenantdb.jmh.tpcc;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The keys: numbers and names joined from the largest whole to the smallest part, big-endian, so
 * that what belongs together is one range.
 *
 * <p>Warehouse, customer, order, item 4 bytes each; district and line 1; payment 8; name 16, with
 * zeros behind it. The key of a range's beginning is that of the whole; its end is that of the next
 * whole.
 */
final class TpccKeys {
  private static final int WAREHOUSE = Integer.BYTES;
  private static final int DISTRICT = WAREHOUSE + Byte.BYTES;
  private static final int NAME = TpccRows.Customer.NAME_BYTES;

  private TpccKeys() {}

  static byte[] warehouse(int warehouse) {
    return ByteBuffer.allocate(WAREHOUSE).putInt(warehouse).array();
  }

  static byte[] district(int warehouse, int district) {
    return ByteBuffer.allocate(DISTRICT).putInt(warehouse).put((byte) district).array();
  }

  /** A customer, an order or a new order: a number within its district. */
  static byte[] inDistrict(int warehouse, int district, int number) {
    return ByteBuffer.allocate(DISTRICT + Integer.BYTES)
        .putInt(warehouse)
        .put((byte) district)
        .putInt(number)
        .array();
  }

  static byte[] line(int warehouse, int district, int order, int line) {
    return ByteBuffer.allocate(DISTRICT + Integer.BYTES + Byte.BYTES)
        .putInt(warehouse)
        .put((byte) district)
        .putInt(order)
        .put((byte) line)
        .array();
  }

  /** An entry of the index of orders by customer, which ends with the order's number. */
  static byte[] orderByCustomer(int warehouse, int district, int customer, int order) {
    return ByteBuffer.allocate(DISTRICT + 2 * Integer.BYTES)
        .putInt(warehouse)
        .put((byte) district)
        .putInt(customer)
        .putInt(order)
        .array();
  }

  static byte[] payment(int warehouse, int district, long number) {
    return ByteBuffer.allocate(DISTRICT + Long.BYTES)
        .putInt(warehouse)
        .put((byte) district)
        .putLong(number)
        .array();
  }

  /** An entry of the index of customers by last name, first name within it. */
  static byte[] customerByName(
      int warehouse, int district, String last, String first, int customer) {
    return ByteBuffer.allocate(DISTRICT + 2 * NAME + Integer.BYTES)
        .putInt(warehouse)
        .put((byte) district)
        .put(Arrays.copyOf(last.getBytes(US_ASCII), NAME))
        .put(Arrays.copyOf(first.getBytes(US_ASCII), NAME))
        .putInt(customer)
        .array();
  }

  /** The beginning of all customers with a last name. */
  static byte[] customersNamed(int warehouse, int district, String last) {
    return Arrays.copyOf(customerByName(warehouse, district, last, "", 0), DISTRICT + NAME);
  }

  /** The end of all customers with a last name: no first name begins with such a byte. */
  static byte[] afterCustomersNamed(int warehouse, int district, String last) {
    byte[] end =
        Arrays.copyOf(customerByName(warehouse, district, last, "", 0), DISTRICT + NAME + 1);
    end[end.length - 1] = (byte) 0xFF;
    return end;
  }

  static byte[] item(int item) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(item).array();
  }

  static byte[] stock(int warehouse, int item) {
    return ByteBuffer.allocate(WAREHOUSE + Integer.BYTES).putInt(warehouse).putInt(item).array();
  }

  /** The number with which a key ends. */
  static int last(byte[] key) {
    return TpccRows.getInt(key, key.length - Integer.BYTES);
  }

  /** The number within its district: of an order, also in the key of a line. */
  static int numberInDistrict(byte[] key) {
    return TpccRows.getInt(key, DISTRICT);
  }
}
