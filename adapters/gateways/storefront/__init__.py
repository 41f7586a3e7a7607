"""The shop systems: shopify, bigcommerce, wix, woocommerce. Orders are sales, whatever their plugins call a renewal."""
